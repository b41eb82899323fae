; What functions and blocks of Kotlin bind.
[
  (class_declaration)
  (function_declaration)
  (anonymous_function)
  (secondary_constructor)
  (lambda_literal)
  (block)
  (for_statement)
  (catch_block)
  (when_expression)
  (getter)
  (setter)
] @block
(parameter . (identifier) @binding)
(class_parameter (identifier) @binding ":")
(lambda_parameters [(variable_declaration) (multi_variable_declaration)] @binding)
(for_statement [(variable_declaration) (multi_variable_declaration)] @binding . "in" . (_) @after)
(when_subject (variable_declaration) @binding)
(catch_block . (identifier) @binding)
(setter . (identifier) @binding)
(block (property_declaration [(variable_declaration) (multi_variable_declaration)] @binding) @after)
(lambda_literal (property_declaration [(variable_declaration) (multi_variable_declaration)] @binding) @after)
(block (function_declaration name: (identifier) @outer))
(lambda_literal (function_declaration name: (identifier) @outer))
(type_parameter (identifier) @early)
(call_expression
  [(identifier) (navigation_expression)] @of
  (value_arguments (value_argument . (identifier) @key "=")))
(annotation (constructor_invocation
  (user_type) @of
  (value_arguments (value_argument . (identifier) @key "="))))
(value_argument . (identifier) @key "=")
(parameter . (identifier) @binding . (user_type) @type)
(lambda_parameters (variable_declaration . (identifier) @binding . (user_type) @type))
(block (property_declaration (variable_declaration . (identifier) @binding . (user_type) @type)) @after)
