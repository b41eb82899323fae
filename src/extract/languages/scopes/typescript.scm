; Parameters and types of TypeScript.
[
  (function_type)
  (constructor_type)
  (method_signature)
  (abstract_method_signature)
  (function_signature)
  (call_signature)
  (construct_signature)
  (index_signature)
  (interface_declaration)
  (type_alias_declaration)
  (class_declaration)
  (abstract_class_declaration)
  (conditional_type)
] @block
(required_parameter pattern: (_) @binding)
(optional_parameter pattern: (_) @binding)
(type_parameter name: (type_identifier) @early)
(infer_type . (type_identifier) @early)
(mapped_type_clause name: (type_identifier) @early)
(class_declaration name: (_) @outer)
(abstract_class_declaration name: (_) @outer)
(statement_block (interface_declaration name: (_) @outer))
(statement_block (type_alias_declaration name: (_) @outer))
(statement_block (enum_declaration name: (_) @early))
; What types say of variables and of the keys of objects.
(required_parameter
  pattern: (identifier) @binding
  type: (type_annotation [(type_identifier) (nested_type_identifier) (generic_type)] @type))
(optional_parameter
  pattern: (identifier) @binding
  type: (type_annotation [(type_identifier) (nested_type_identifier) (generic_type)] @type))
(lexical_declaration (variable_declarator
  name: (identifier) @early
  type: (type_annotation [(type_identifier) (nested_type_identifier) (generic_type)] @type)))
(required_parameter
  pattern: (object_pattern (shorthand_property_identifier_pattern) @shorthand)
  type: (type_annotation [(type_identifier) (nested_type_identifier) (generic_type)] @of))
(required_parameter
  pattern: (object_pattern (pair_pattern key: (property_identifier) @key))
  type: (type_annotation [(type_identifier) (nested_type_identifier) (generic_type)] @of))
(variable_declarator
  type: (type_annotation [(type_identifier) (nested_type_identifier) (generic_type)] @of)
  value: (object (pair key: (property_identifier) @key)))
(variable_declarator
  type: (type_annotation [(type_identifier) (nested_type_identifier) (generic_type)] @of)
  value: (object (method_definition name: (property_identifier) @key)))
(variable_declarator
  type: (type_annotation [(type_identifier) (nested_type_identifier) (generic_type)] @of)
  value: (object (shorthand_property_identifier) @shorthand))
(as_expression (object (pair key: (property_identifier) @key)) [(type_identifier) (generic_type)] @of)
(satisfies_expression (object (pair key: (property_identifier) @key)) [(type_identifier) (generic_type)] @of)
(variable_declarator
  name: (object_pattern (shorthand_property_identifier_pattern) @shorthand)
  type: (type_annotation [(type_identifier) (nested_type_identifier) (generic_type)] @of))
(object_type (property_signature name: (property_identifier) @declared))
(object_type (method_signature name: (property_identifier) @declared))
