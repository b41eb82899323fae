; Types, and what extends them.
(object_type_definition (name) @name (fields_definition)? @body) @definition.class
(object_type_extension (name) @name (fields_definition)? @body) @definition.extension
(interface_type_definition (name) @name (fields_definition)? @body) @definition.interface
(interface_type_extension (name) @name (fields_definition)? @body) @definition.extension
(enum_type_definition (name) @name (enum_values_definition)? @body) @definition.enum
(enum_type_extension (name) @name (enum_values_definition)? @body) @definition.extension
(input_object_type_extension (name) @name (input_fields_definition)? @body) @definition.extension
(union_type_extension (name) @name) @definition.extension
(scalar_type_extension (name) @name) @definition.extension
(enum_value_definition (enum_value (name) @name)) @definition.variant
(input_object_type_definition (name) @name (input_fields_definition)? @body) @definition.struct
(union_type_definition (name) @name) @definition.union
(scalar_type_definition (name) @name) @definition.type
(directive_definition (name) @name) @definition.attribute
(fields_definition (field_definition (name) @name) @definition.field)
(input_fields_definition (input_value_definition (name) @name) @definition.field)

; Queries of a schema.
(operation_definition (name) @name (selection_set) @body) @definition.function
(fragment_definition (fragment_name (name) @name) (selection_set) @body) @definition.function

; References.
(implements_interfaces (named_type (name) @implements))
(named_type (name) @name) @reference.type
(fragment_spread (fragment_name (name) @name)) @reference.call
(directive (name) @name) @reference.use
(selection (field (name) @name)) @reference.use
