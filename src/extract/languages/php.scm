; Definitions.
(class_declaration name: (name) @name) @definition.class
(interface_declaration name: (name) @name) @definition.interface
(trait_declaration name: (name) @name) @definition.trait
(enum_declaration name: (name) @name) @definition.enum
(enum_case name: (name) @name) @definition.variant
(function_definition name: (name) @name) @definition.function
((method_declaration name: (name) @name) @definition.constructor (#eq? @name "__construct"))
(method_declaration name: (name) @name) @definition.method
(property_declaration (property_element name: (variable_name (name) @name))) @definition.property
(property_promotion_parameter name: [
  (variable_name (name) @name)
  (by_ref (variable_name (name) @name))
]) @definition.property
(use_as_clause (_) (name) @name .) @definition.method
(const_declaration (const_element . (name) @name)) @definition.constant
(namespace_definition name: (_) @name) @definition.namespace
(program (expression_statement (assignment_expression
  left: [
    (variable_name (name) @name)
    (list_literal [(variable_name (name) @name) (list_literal (variable_name (name) @name))])
  ]) @definition.variable))
; A constant, in quotes after its namespace.
((function_call_expression
  function: [(name) (qualified_name)] @_define
  arguments: (arguments . (argument [
    (string . (string_content) @name .)
    (encapsed_string . (string_content) @name .)
    (string (escape_sequence) @_separator . (string_content) @name .)
    (encapsed_string (escape_sequence) @_separator . (string_content) @name .)
  ]))) @definition.constant
  (#match? @_define "^\\\\?define$")
  (#eq? @_separator "\\\\"))

; Inheritance, and traits that are used.
(base_clause [(name) @inherits (qualified_name (name) @inherits)])
(class_interface_clause [(name) @implements (qualified_name (name) @implements)])
(use_declaration [(name) @implements (qualified_name (name) @implements)])

; Imports.
(namespace_use_clause
  (qualified_name prefix: (namespace_name) @import.module (name) @import.name)
  alias: (name) @import.alias)
(namespace_use_clause (qualified_name prefix: (namespace_name) @import.module (name) @import.name))
(namespace_use_declaration (namespace_use_clause . (name) @import.module alias: (name) @import.alias))
(namespace_use_declaration (namespace_use_clause . (name) @import.module))
(namespace_use_declaration
  (namespace_name) @import.module
  body: (namespace_use_group (namespace_use_clause . (name) @import.name alias: (name) @import.alias)))
(namespace_use_declaration
  (namespace_name) @import.module
  body: (namespace_use_group (namespace_use_clause . (name) @import.name)))
(require_expression [(string) @import.module (binary_expression right: (string) @import.module)])
(require_once_expression [(string) @import.module (binary_expression right: (string) @import.module)])
(include_expression [(string) @import.module (binary_expression right: (string) @import.module)])
(include_once_expression [(string) @import.module (binary_expression right: (string) @import.module)])

; References.
(function_call_expression function: [(name) @name (qualified_name (name) @name)]) @reference.call
(member_call_expression name: (name) @name) @reference.call
(nullsafe_member_call_expression name: (name) @name) @reference.call
(scoped_call_expression name: (name) @name) @reference.call
(scoped_call_expression scope: [(name) @name (qualified_name (name) @name)]) @reference.use
(object_creation_expression [(name) @name (qualified_name (name) @name)]) @reference.call
(attribute [(name) @name (qualified_name (name) @name)]) @reference.call
(named_type [(name) @name (qualified_name (name) @name)]) @reference.type

; Names passed around as values.
(argument (name) @name) @reference.use
(class_constant_access_expression (name) @name) @reference.use
(member_access_expression name: (name) @name) @reference.use
(nullsafe_member_access_expression name: (name) @name) @reference.use
(scoped_property_access_expression name: (variable_name (name) @name)) @reference.use
((name) @name (#match? @name "^_*[A-Z]")) @reference.use
