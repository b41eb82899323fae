; What functions and blocks of Rust bind. A `let` of a name that the block has is another variable.
[
  (function_item)
  (function_signature_item)
  (impl_item)
  (trait_item)
  (struct_item)
  (enum_item)
  (union_item)
  (type_item)
  (closure_expression)
  (block)
  (for_expression)
  (match_arm)
  (if_expression)
  (while_expression)
] @block
(parameter pattern: (_) @binding)
(closure_parameters
  [(identifier) (tuple_pattern) (tuple_struct_pattern) (struct_pattern) (reference_pattern) (ref_pattern) (mut_pattern) (slice_pattern)] @binding)
(let_declaration pattern: (_) @binding) @after @again
(let_condition pattern: (_) @binding) @after @again
(if_expression alternative: (_) @until) @block
(for_expression pattern: (_) @binding value: (_) @after)
(match_arm pattern: (match_pattern) @binding)
(type_parameter name: (type_identifier) @early)
(const_parameter name: (identifier) @early)
(block (function_item name: (identifier) @outer))
(block (struct_item name: (type_identifier) @outer))
(block (enum_item name: (type_identifier) @outer))
(block (const_item name: (identifier) @early))
(block (static_item name: (identifier) @early))
(struct_expression
  name: (_) @of
  body: (field_initializer_list (field_initializer field: (field_identifier) @key)))
(struct_expression
  name: (_) @of
  body: (field_initializer_list (shorthand_field_initializer (identifier) @shorthand)))
(struct_pattern type: (_) @of (field_pattern name: (field_identifier) @key))
(struct_pattern type: (_) @of (field_pattern name: (shorthand_field_identifier) @shorthand))
(field_declaration name: (field_identifier) @declared)
(label (identifier) @declared)
(lifetime (identifier) @declared)
(parameter pattern: (identifier) @binding type: [(type_identifier) (scoped_type_identifier) (generic_type)] @type)
(parameter
  pattern: (identifier) @binding
  type: (reference_type type: [(type_identifier) (scoped_type_identifier) (generic_type)] @type))
(let_declaration
  pattern: (identifier) @binding
  type: [(type_identifier) (scoped_type_identifier) (generic_type)] @type) @after @again
(let_declaration pattern: (identifier) @binding value: (struct_expression name: (_) @type)) @after @again
; Of a literal in the arguments of a macro.
(token_tree (identifier) @of . (token_tree "{" (identifier) @key . ":"))
(token_tree
  (identifier) @of
  .
  (token_tree ["{" ","] . (identifier) @shorthand . ["," "}"])
  (#match? @of "^[A-Z]"))
