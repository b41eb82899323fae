; Definitions.
(class_declaration name: (identifier) @name) @definition.class
(interface_declaration name: (identifier) @name) @definition.interface
(annotation_type_declaration name: (identifier) @name) @definition.interface
(enum_declaration name: (identifier) @name) @definition.enum
(record_declaration name: (identifier) @name) @definition.record
(record_declaration
  parameters: (formal_parameters (formal_parameter name: (identifier) @name) @definition.field))
(record_declaration parameters: (formal_parameters
  (spread_parameter (variable_declarator name: (identifier) @name)) @definition.field))
(enum_constant name: (identifier) @name) @definition.variant
(constructor_declaration name: (identifier) @name) @definition.constructor
(compact_constructor_declaration name: (identifier) @name) @definition.constructor
(method_declaration name: (identifier) @name) @definition.method
(annotation_type_element_declaration name: (identifier) @name) @definition.method
(field_declaration
  (modifiers "static" "final")
  declarator: (variable_declarator name: (identifier) @name)) @definition.constant
(field_declaration declarator: (variable_declarator name: (identifier) @name)) @definition.field
; A compact source file: its class is implied.
(program (local_variable_declaration
  (modifiers "static" "final")
  declarator: (variable_declarator name: (identifier) @name)) @definition.constant)
(program (local_variable_declaration declarator: (variable_declarator name: (identifier) @name)) @definition.field)
(constant_declaration declarator: (variable_declarator name: (identifier) @name)) @definition.constant
(package_declaration [(identifier) (scoped_identifier)] @name) @definition.package
(module_declaration name: (_) @name) @definition.module

; Imports. A static import names a member of the type before it.
(import_declaration "static" (scoped_identifier) @import.module (asterisk) @import.wildcard)
(import_declaration
  "static"
  (scoped_identifier scope: (_) @import.module name: (identifier) @import.name)
  .)
(import_declaration (scoped_identifier) @import.module (asterisk) @import.wildcard)
(import_declaration (identifier) @import.module (asterisk) @import.wildcard)
(import_declaration (scoped_identifier scope: (_) @import.module name: (identifier) @import.name) .)

; Inheritance.
(superclass [
  (type_identifier) @inherits
  (generic_type (type_identifier) @inherits)
  (generic_type (scoped_type_identifier (type_identifier) @inherits .))
  (scoped_type_identifier (type_identifier) @inherits .)
])
(extends_interfaces (type_list [
  (type_identifier) @inherits
  (generic_type (type_identifier) @inherits)
  (generic_type (scoped_type_identifier (type_identifier) @inherits .))
  (scoped_type_identifier (type_identifier) @inherits .)
]))
(super_interfaces (type_list [
  (type_identifier) @implements
  (generic_type (type_identifier) @implements)
  (generic_type (scoped_type_identifier (type_identifier) @implements .))
  (scoped_type_identifier (type_identifier) @implements .)
]))

; References.
(method_invocation name: (identifier) @name) @reference.call
(method_reference (identifier) @name .) @reference.use
(object_creation_expression type: (type_identifier) @name) @reference.call
(object_creation_expression type: (generic_type (type_identifier) @name)) @reference.call
(object_creation_expression type: (scoped_type_identifier (type_identifier) @name .)) @reference.call
(object_creation_expression
  type: (generic_type (scoped_type_identifier (type_identifier) @name .))) @reference.call
(annotation name: (identifier) @name) @reference.call
(marker_annotation name: (identifier) @name) @reference.call
((type_identifier) @name) @reference.type

; Names passed around as values.
(argument_list (identifier) @name) @reference.use
(field_access field: (identifier) @name) @reference.use
(variable_declarator value: (identifier) @name) @reference.use
(assignment_expression right: (identifier) @name) @reference.use
(element_value_pair value: (identifier) @name) @reference.use
((identifier) @name (#match? @name "^[A-Z]")) @reference.use

; Parameters and local variables: their uses are no references.
(formal_parameter name: (identifier) @binding)
(lambda_expression parameters: (identifier) @binding)
(inferred_parameters (identifier) @binding)
(local_variable_declaration declarator: (variable_declarator name: (identifier) @binding))
(enhanced_for_statement name: (identifier) @binding)
(catch_formal_parameter name: (identifier) @binding)
