; What functions and blocks of Dart bind.
[
  (class_declaration)
  (function_declaration)
  (method_declaration)
  (local_function_declaration)
  (function_expression)
  (block)
  (for_statement)
  (try_statement)
  (switch_statement_case)
  (switch_expression_case)
] @block
(formal_parameter (identifier) @binding)
(local_variable_declaration (initialized_variable_declaration name: (identifier) @binding) @after)
(variable_pattern name: (identifier) @binding)
(for_statement name: (identifier) @binding)
(catch_clause exception: (identifier) @binding)
(catch_clause stack_trace: (identifier) @binding)
(type_parameter name: (type_identifier) @early)
(local_function_declaration (function_signature name: (identifier) @outer))
(call_expression
  function: (_) @of
  arguments: (arguments (named_argument (label (identifier) @key))))
(named_argument (label (identifier) @key))
(formal_parameter (type (type_identifier) @type) name: (identifier) @binding)
