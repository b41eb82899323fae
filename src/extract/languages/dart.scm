; Definitions.
(class_declaration name: (identifier) @name) @definition.class
(mixin_declaration name: (identifier) @name) @definition.mixin
(extension_declaration name: (identifier) @name) @definition.extension
(extension_type_declaration name: (_ . (identifier) @name)) @definition.extension
(extension_type_declaration name: (identifier) @name) @definition.extension
(extension_declaration !name class: (type . (type_identifier) @name)) @scope
(extension_type_representation name: (identifier) @name) @definition.field
(enum_declaration name: (identifier) @name) @definition.enum
(enum_entry name: (identifier) @name) @definition.variant
(type_alias . (type_identifier) @name) @definition.type
(type_alias . (type) . (type_identifier) @name) @definition.type
(class_declaration (mixin_application_class . (identifier) @name)) @definition.class
(function_declaration signature: (function_signature name: (identifier) @name)) @definition.function
(local_function_declaration (function_signature name: (identifier) @name)) @definition.function
(method_declaration signature: (method_signature [
  (function_signature name: (identifier) @name)
  (getter_signature name: (identifier) @name)
  (setter_signature name: (identifier) @name)
  (operator_signature operator: (_) @name)
  (operator_signature ["[]" "[]=" "~" "-"] @name)
])) @definition.method
(method_declaration signature: (method_signature [
  (constructor_signature name: (identifier) @name . parameters: (_))
  (factory_constructor_signature name: (identifier) @name . parameters: (_))
])) @definition.constructor
(declaration [
  (function_signature name: (identifier) @name)
  (getter_signature name: (identifier) @name)
  (setter_signature name: (identifier) @name)
  (operator_signature operator: (_) @name)
  (operator_signature ["[]" "[]=" "~" "-"] @name)
]) @definition.method
(declaration [
  (constructor_signature name: (identifier) @name . parameters: (_))
  (constant_constructor_signature name: (identifier) @name . parameters: (_))
  (factory_constructor_signature name: (identifier) @name . parameters: (_))
  (redirecting_factory_constructor_signature name: (identifier) @name . parameters: (_))
]) @definition.constructor
(declaration (initialized_identifier_list (initialized_identifier name: (identifier) @name))) @definition.field
(declaration (identifier_list (identifier) @name) @definition.field)
(declaration (static_final_declaration_list (static_final_declaration name: (identifier) @name))) @definition.field
(top_level_variable_declaration
  modifier: "const"
  (static_final_declaration_list (static_final_declaration name: (identifier) @name))) @definition.constant
(top_level_variable_declaration
  (static_final_declaration_list (static_final_declaration name: (identifier) @name))) @definition.variable
(top_level_variable_declaration
  (initialized_identifier_list (initialized_identifier name: (identifier) @name))) @definition.variable
(external_variable_declaration (identifier_list (identifier) @name) @definition.variable)
(external_function_declaration signature: (function_signature name: (identifier) @name)) @definition.function
(external_getter_declaration signature: (getter_signature name: (identifier) @name)) @definition.function
(external_setter_declaration signature: (setter_signature name: (identifier) @name)) @definition.function
(getter_declaration (getter_signature name: (identifier) @name)) @definition.function
(setter_declaration (setter_signature name: (identifier) @name)) @definition.function

; Inheritance.
(mixin_application . (type . (type_identifier) @inherits))
(superclass type: (type . (type_identifier) @inherits))
(mixins (type . (type_identifier) @implements))
(interfaces (type . (type_identifier) @implements))
(mixin_declaration (type . (type_identifier) @inherits))

; Imports.
(import_specification
  uri: (_) @import.module
  alias: (identifier) @import.alias
  (combinator "show" (identifier) @import.name))
(import_specification uri: (_) @import.module (combinator "show" (identifier) @import.name))
(import_specification uri: (_) @import.module alias: (identifier) @import.alias)
(import_specification uri: (_) @import.module)
(library_export uri: (_) @import.module (combinator "show" (identifier) @import.name))
(library_export uri: (_) @import.module)
(part_directive uri: (_) @import.module)

; References.
(call_expression function: (identifier) @name) @reference.call
(call_expression function: (member_expression property: (identifier) @name)) @reference.call
(cascade_call_expression property: (identifier) @name) @reference.call
(annotation name: (identifier) @name) @reference.call
((type_identifier) @name) @reference.type

; Names passed around as values.
(arguments (identifier) @name) @reference.use
(named_argument (identifier) @name) @reference.use
(member_expression property: (identifier) @name) @reference.use
((identifier) @name (#match? @name "^_*[A-Z]")) @reference.use
