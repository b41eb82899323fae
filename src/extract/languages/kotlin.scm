; Definitions.
(class_declaration "interface" name: (identifier) @name (class_body)? @body) @definition.interface
(class_declaration
  (modifiers (class_modifier) @_enum)
  name: (identifier) @name
  (enum_class_body) @body
  (#eq? @_enum "enum")) @definition.enum
(class_declaration
  (modifiers (class_modifier) @_enum)
  name: (identifier) @name
  (#eq? @_enum "enum")) @definition.enum
(class_declaration name: (identifier) @name (class_body) @body) @definition.class
(class_declaration name: (identifier) @name) @definition.class
(object_declaration name: (identifier) @name (class_body) @body) @definition.object
(object_declaration name: (identifier) @name) @definition.object
(companion_object name: (identifier) @name (class_body) @body) @definition.object
(enum_entry . (modifiers)? . (identifier) @name) @definition.variant
(type_alias type: (identifier) @name) @definition.type
(package_header (qualified_identifier) @name) @definition.package
(function_declaration
  "fun" . (type_parameters)? . (user_type . (identifier) @container)
  name: (identifier) @name
  (function_body) @body) @definition.function
(object_literal (class_body
  (function_declaration name: (identifier) @name (function_body)? @body) @definition.method))
(enum_entry (class_body
  (function_declaration name: (identifier) @name (function_body)? @body) @definition.method))
(function_declaration name: (identifier) @name (function_body) @body) @definition.function
(function_declaration name: (identifier) @name) @definition.function
(secondary_constructor "constructor" @name (block)? @body) @definition.constructor
(class_parameter ["val" "var"] . (identifier) @name) @definition.property
(property_declaration
  (modifiers (property_modifier) @_const)
  (variable_declaration (identifier) @name)
  (#eq? @_const "const")) @definition.constant
(class_body (property_declaration (variable_declaration . (identifier) @name)) @definition.property)
(enum_class_body (property_declaration (variable_declaration . (identifier) @name)) @definition.property)
(property_declaration
  (multi_variable_declaration (variable_declaration . (identifier) @name @definition.variable))) @signature
(property_declaration (variable_declaration . (identifier) @name)) @definition.variable
; Between an annotation and its name, the word that makes it a type looks like an infix function:
; findings/kotlin-annotated-type.sh.
((infix_expression (identifier) @_word . (identifier) @name .) @definition.class @misread
  (#match? @_word "^(class|object|interface)$"))

; Bodies whose variables are their own.
(function_body) @local
(lambda_literal) @local
(anonymous_initializer) @local
(secondary_constructor (block) @local)
(getter) @local
(setter) @local

; Inheritance: a superclass is constructed, an interface is named.
(class_declaration
  "interface"
  (delegation_specifiers (delegation_specifier (user_type (identifier) @inherits))))
(delegation_specifier (constructor_invocation (user_type (identifier) @inherits .)))
(delegation_specifier (constructor_invocation (user_type (identifier) @inherits . (type_arguments))))
(delegation_specifier (user_type (identifier) @implements .))
(delegation_specifier (user_type (identifier) @implements . (type_arguments)))
(delegation_specifier (explicit_delegation (user_type (identifier) @implements)))

; Imports.
(import (qualified_identifier) @import.module "*" @import.wildcard)
(import (qualified_identifier (identifier) @import.name .) @import.module . (identifier) @import.alias)
((import (qualified_identifier (identifier) @import.name .) @import.module) @_import (#not-match? @_import "\\*$"))

; References.
(call_expression . (identifier) @name) @reference.call
(call_expression . (navigation_expression (identifier) @name .)) @reference.call
(annotation (constructor_invocation (user_type (identifier) @name))) @reference.call
(annotation (user_type (identifier) @name)) @reference.call
(user_type (identifier) @name) @reference.type

; Names passed around as values.
(value_argument (identifier) @name) @reference.use
(callable_reference (identifier) @name) @reference.use
(navigation_expression (identifier) @name .) @reference.use
((identifier) @name (#match? @name "^_*[A-Z]")) @reference.use
