; Definitions.
(class_declaration name: (identifier) @name) @definition.class
(interface_declaration name: (identifier) @name) @definition.interface
(struct_declaration name: (identifier) @name) @definition.struct
(record_declaration name: (identifier) @name) @definition.record
(record_declaration (parameter_list (parameter name: (identifier) @name) @definition.property))
(enum_declaration name: (identifier) @name) @definition.enum
(enum_member_declaration name: (identifier) @name) @definition.variant
(delegate_declaration name: (identifier) @name) @definition.type
(namespace_declaration name: (_) @name) @definition.namespace
(file_scoped_namespace_declaration name: (_) @name) @definition.namespace @level.1
(method_declaration name: (identifier) @name) @definition.method
((constructor_declaration name: (identifier) @name) @definition.constructor @misread (#eq? @name "extension"))
(constructor_declaration name: (identifier) @name) @definition.constructor
(destructor_declaration name: (identifier) @name) @definition.method
(local_function_statement name: (identifier) @name) @definition.function
(operator_declaration operator: _ @name) @definition.operator
(conversion_operator_declaration type: (_) @name) @definition.operator
(indexer_declaration "this" @name) @definition.property
(property_declaration name: (identifier) @name accessors: (_) @body) @definition.property
(property_declaration name: (identifier) @name) @definition.property
(event_declaration name: (identifier) @name) @definition.event
(event_field_declaration (variable_declaration (variable_declarator name: (identifier) @name))) @definition.event
(field_declaration
  (modifier) @_const
  (variable_declaration (variable_declarator name: (identifier) @name))
  (#eq? @_const "const")) @definition.constant
(field_declaration (variable_declaration (variable_declarator name: (identifier) @name))) @definition.field

; Inheritance. Nothing but the name distinguishes an interface from a base class, and it does so by convention.
(interface_declaration (base_list [
  (identifier) @inherits
  (generic_name . (identifier) @inherits)
  (qualified_name name: (identifier) @inherits)
  (qualified_name name: (generic_name . (identifier) @inherits))
]))
(struct_declaration (base_list [(identifier) @implements (generic_name . (identifier) @implements)]))
((base_list [(identifier) @implements (generic_name . (identifier) @implements)])
  (#match? @implements "^I[A-Z]"))
(class_declaration (base_list [
  (identifier) @inherits
  (generic_name . (identifier) @inherits)
  (qualified_name name: (identifier) @inherits)
  (qualified_name name: (generic_name . (identifier) @inherits))
]))
(record_declaration (base_list [
  (identifier) @inherits
  (generic_name . (identifier) @inherits)
  (primary_constructor_base_type type: (identifier) @inherits)
  (primary_constructor_base_type type: (generic_name . (identifier) @inherits))
]))

; Imports.
(using_directive name: (identifier) @import.alias (_) @import.module .)
(using_directive "static" @import.wildcard [(identifier) (qualified_name)] @import.module)
(using_directive [(identifier) (qualified_name)] @import.module .)

; References.
(invocation_expression function: (identifier) @name) @reference.call
(invocation_expression function: (generic_name . (identifier) @name)) @reference.call
(invocation_expression function: (member_access_expression name: (identifier) @name)) @reference.call
(invocation_expression
  function: (member_access_expression name: (generic_name . (identifier) @name))) @reference.call
(invocation_expression
  function: (conditional_access_expression (member_binding_expression name: (identifier) @name))) @reference.call
(object_creation_expression type: (identifier) @name) @reference.call
(object_creation_expression type: (generic_name . (identifier) @name)) @reference.call
(object_creation_expression type: (qualified_name name: (identifier) @name)) @reference.call
(attribute name: (identifier) @name) @reference.call
(attribute name: (qualified_name name: (identifier) @name)) @reference.call
(_ type: (identifier) @name) @reference.type
(_ type: (nullable_type type: (identifier) @name)) @reference.type
(_ type: (array_type type: (identifier) @name)) @reference.type
(_ returns: (identifier) @name) @reference.type
(generic_name . (identifier) @name) @reference.type
(type_argument_list (identifier) @name) @reference.type
(nullable_type type: (identifier) @name) @reference.type
(qualified_name name: (identifier) @name) @reference.use

; Names passed around as values.
(argument (identifier) @name) @reference.use
(variable_declarator (identifier) @name .) @reference.use
(assignment_expression right: (identifier) @name) @reference.use
(member_access_expression name: (identifier) @name) @reference.use
(member_binding_expression name: (identifier) @name) @reference.use
((identifier) @name (#match? @name "^_*[A-Z]")) @reference.use
