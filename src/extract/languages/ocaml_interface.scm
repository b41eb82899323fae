; Values: functions where their type is one.
(value_specification
  [(value_name) @name (parenthesized_operator (_) @name)]
  type: (function_type)) @definition.function
(value_specification (value_name) @name) @definition.variable
(external (value_name) @name) @definition.function

; Modules, types, exceptions, classes.
(module_definition (module_binding (module_name) @name) @definition.module) @signature
(module_type_definition (module_type_name) @name) @definition.signature
(type_binding name: (type_constructor) @name) @definition.type
(exception_definition (constructor_declaration (constructor_name) @name)) @definition.exception
(constructor_declaration (constructor_name) @name) @definition.variant
(field_declaration (field_name) @name) @definition.field
(class_binding (class_name) @name) @definition.class
(class_type_binding (class_type_name) @name) @definition.class
(instance_variable_specification (instance_variable_name) @name) @definition.field
(method_specification (method_name) @name) @definition.method

; Imports.
(open_module_signature module: (_) @import.module) @import.wildcard
(include_module_type module_type: (module_type_path) @import.module) @import.wildcard
(include_module_type
  module_type: (module_type_constraint module_type: (module_type_path) @import.module)) @import.wildcard

; References.
(type_constructor_path (type_constructor) @name) @reference.type
(module_type_path (module_type_name) @name) @reference.type
((module_name) @name) @reference.use
