; What functions and blocks of Scala bind.
[
  (class_definition)
  (trait_definition)
  (function_definition)
  (function_declaration)
  (lambda_expression)
  (block)
  (indented_block)
  (for_expression)
  (case_clause)
] @block
(parameter name: (identifier) @binding)
(class_parameter name: (identifier) @binding)
(lambda_expression parameters: (identifier) @binding)
(binding name: (identifier) @binding)
(enumerator . (_) @binding)
(case_clause pattern: (_) @binding)
(block (val_definition pattern: (_) @binding))
(block (var_definition pattern: (_) @binding))
(indented_block (val_definition pattern: (_) @binding))
(indented_block (var_definition pattern: (_) @binding))
(block (function_definition name: (identifier) @outer))
(indented_block (function_definition name: (identifier) @outer))
(type_parameters name: (identifier) @early)
(call_expression
  function: (_) @of
  arguments: (arguments (assignment_expression left: (identifier) @key)))
(parameter name: (identifier) @binding type: [(type_identifier) (generic_type)] @type)
