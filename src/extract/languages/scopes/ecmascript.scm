; What functions and blocks of JavaScript and TypeScript bind. `var` is seen in all of its function.
[
  (function_declaration)
  (function_expression)
  (generator_function_declaration)
  (generator_function)
  (arrow_function)
  (method_definition)
  (class_static_block)
] @function
[(statement_block) (for_statement) (for_in_statement) (catch_clause) (switch_body) (class)] @block
(function_declaration name: (identifier) @outer)
(generator_function_declaration name: (identifier) @outer)
(function_expression name: (identifier) @early)
(generator_function name: (identifier) @early)
(class name: (_) @early)
(lexical_declaration (variable_declarator name: (_) @early))
(variable_declaration (variable_declarator name: (_) @hoisted))
(arrow_function parameter: (identifier) @early)
(for_in_statement "const" left: (_) @early)
(for_in_statement "let" left: (_) @early)
(for_in_statement "var" left: (_) @hoisted)
(catch_clause parameter: (_) @early)
(object (pair key: [(property_identifier) (private_property_identifier)] @key))
(object (method_definition name: (property_identifier) @key))
(object (shorthand_property_identifier) @shorthand)
(object_pattern (pair_pattern key: (property_identifier) @key))
(object_pattern (shorthand_property_identifier_pattern) @shorthand)
(object_pattern (object_assignment_pattern left: (shorthand_property_identifier_pattern) @shorthand))
(labeled_statement label: (statement_identifier) @declared)
(break_statement label: (statement_identifier) @declared)
(continue_statement label: (statement_identifier) @declared)
(variable_declarator
  name: (object_pattern (shorthand_property_identifier_pattern) @shorthand)
  value: (this) @of)
(variable_declarator
  name: (object_pattern (pair_pattern key: (property_identifier) @key))
  value: (this) @of)
(lexical_declaration (variable_declarator
  name: (identifier) @early
  value: (new_expression constructor: [(identifier) (member_expression)] @type)))
