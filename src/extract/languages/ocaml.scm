; Values: functions where they take parameters.
([
  (compilation_unit (value_definition (let_binding
    pattern: [(value_name) @name (parenthesized_operator (_) @name)]
    . (parameter)
    body: (_) @body) @definition.function))
  (structure (value_definition (let_binding
    pattern: [(value_name) @name (parenthesized_operator (_) @name)]
    . (parameter)
    body: (_) @body) @definition.function))
  (compilation_unit (value_definition (let_binding
    pattern: (value_name) @name
    body: [(fun_expression) (function_expression)]) @definition.function))
  (structure (value_definition (let_binding
    pattern: (value_name) @name
    body: [(fun_expression) (function_expression)]) @definition.function))
])
(compilation_unit (value_definition (let_binding
  pattern: [
    (value_name) @name
    (tuple_pattern (value_name) @name)
    (parenthesized_pattern (tuple_pattern (value_name) @name))
    (constructor_pattern pattern: (value_name) @name)
    (record_pattern (field_pattern !pattern (field_path (field_name) @name)))
    (record_pattern (field_pattern pattern: (value_name) @name))
    (parenthesized_pattern (cons_pattern (value_name) @name))
    (parenthesized_pattern (lazy_pattern pattern: (value_name) @name))
  ]) @definition.variable))
(structure (value_definition (let_binding
  pattern: [
    (value_name) @name
    (tuple_pattern (value_name) @name)
    (parenthesized_pattern (tuple_pattern (value_name) @name))
  ]) @definition.variable))
(external (value_name) @name) @definition.function

; Modules, types, exceptions. What a module's own signature repeats is not defined twice.
(module_definition (module_binding (module_name) @name body: (_) @body) @definition.module) @signature
(module_definition (module_binding (module_name) @name) @definition.module) @signature
(module_type_definition (module_type_name) @name) @definition.signature
(module_type_definition body: (signature
  (value_specification [(value_name) @name (parenthesized_operator (_) @name)]) @definition.function))
(type_binding name: (type_constructor) @name) @definition.type
(exception_definition (constructor_declaration (constructor_name) @name)) @definition.exception
(constructor_declaration (constructor_name) @name) @definition.variant
(field_declaration (field_name) @name) @definition.field

; Classes.
(class_binding (class_name) @name body: (_) @body) @definition.class
(class_type_binding (class_type_name) @name) @definition.class
(signature (class_definition (class_binding (class_name) @name) @definition.class))
(method_definition (method_name) @name) @definition.method
(class_body_type (method_specification (method_name) @name) @definition.method)
(class_body_type (instance_variable_specification (instance_variable_name) @name) @definition.field)
(instance_variable_definition (instance_variable_name) @name) @definition.field
(inheritance_definition class: [
  (class_path (class_name) @inherits)
  (class_application class: (class_path (class_name) @inherits))
])

; Imports.
(open_module module: (_) @import.module) @import.wildcard
(include_module module: (module_path) @import.module) @import.wildcard
(include_module module: (module_application functor: (_) @import.module)) @import.wildcard

; References.
(application_expression function: (value_path (value_name) @name)) @reference.call
(application_expression function: (constructor_path (constructor_name) @name)) @reference.call
(method_invocation (method_name) @name) @reference.call
(type_constructor_path (type_constructor) @name) @reference.type
(module_type_path (module_type_name) @name) @reference.type

; Names passed around as values.
(application_expression argument: (value_path (value_name) @name)) @reference.use
(value_path (module_path) (value_name) @name) @reference.use
(field_path (field_name) @name) @reference.use
((constructor_name) @name) @reference.use
((module_name) @name) @reference.use
