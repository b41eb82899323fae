; What functions and blocks of Go bind. `:=` binds what follows it; for a name that the block has, it binds nothing.
[
  (function_declaration)
  (method_declaration)
  (func_literal)
  (function_type)
  (method_elem)
  (type_declaration)
  (block)
  (for_statement)
  (if_statement)
  (expression_switch_statement)
  (type_switch_statement)
  (expression_case)
  (default_case)
  (type_case)
  (communication_case)
] @block
(parameter_declaration name: (identifier) @binding)
(variadic_parameter_declaration name: (identifier) @binding)
(type_parameter_declaration name: (identifier) @early)
(short_var_declaration left: (expression_list (identifier) @binding)) @after
(var_spec name: (identifier) @binding) @after
(const_spec name: (identifier) @binding) @after
(range_clause left: (expression_list (identifier) @binding) ":=") @after
(type_switch_statement alias: (expression_list (identifier) @binding))
(receive_statement left: (expression_list (identifier) @binding) ":=") @after
(type_declaration (type_spec name: (type_identifier) @outer))
(type_declaration (type_alias name: (type_identifier) @outer))
(composite_literal
  type: [(type_identifier) (qualified_type) (generic_type)] @of
  body: (literal_value (keyed_element key: (literal_element (identifier) @key))))
(composite_literal
  type: [
    (slice_type element: [(type_identifier) (qualified_type) (generic_type) (pointer_type)] @of)
    (array_type element: [(type_identifier) (qualified_type) (generic_type) (pointer_type)] @of)
  ]
  body: (literal_value (literal_element (literal_value
    (keyed_element key: (literal_element (identifier) @key))))))
(composite_literal
  type: (map_type value: [(type_identifier) (qualified_type) (generic_type) (pointer_type)] @of)
  body: (literal_value (keyed_element value: (literal_element (literal_value
    (keyed_element key: (literal_element (identifier) @key)))))))
; The key of a map is a value; of other literals it may be a field.
(literal_element (literal_value (keyed_element key: (literal_element (identifier) @shorthand))))
(field_declaration name: (field_identifier) @declared)
(method_elem name: (field_identifier) @declared)
(label_name) @declared
(parameter_declaration
  name: (identifier) @binding
  type: [(type_identifier) (qualified_type) (pointer_type) (generic_type)] @type)
(var_spec
  name: (identifier) @binding
  type: [(type_identifier) (qualified_type) (pointer_type) (generic_type)] @type) @after
(short_var_declaration
  left: (expression_list . (identifier) @binding .)
  right: (expression_list . [
    (composite_literal type: [(type_identifier) (qualified_type) (generic_type)] @type)
    (unary_expression operand: (composite_literal type: [(type_identifier) (qualified_type) (generic_type)] @type))
  ] .)) @after
(package_identifier) @declared
