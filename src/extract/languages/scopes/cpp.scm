; What C++ adds to C.
[
  (lambda_expression)
  (for_range_loop)
  (catch_clause)
  (if_statement)
  (while_statement)
  (switch_statement)
  (template_declaration)
] @block
(declaration declarator: (reference_declarator (function_declarator parameters: (_) @block)))
(field_declaration declarator: (reference_declarator (function_declarator parameters: (_) @block)))
(optional_parameter_declaration declarator: (_) @binding)
(variadic_parameter_declaration declarator: (_) @binding)
(declaration declarator: (reference_declarator) @binding)
(compound_statement (declaration declarator: (function_declarator
  declarator: (identifier) @binding
  parameters: (parameter_list (parameter_declaration !declarator)))))
(for_range_loop declarator: (_) @binding right: (_) @after)
(condition_clause value: (declaration declarator: (_) @binding))
(lambda_capture_initializer left: (identifier) @early)
(type_parameter_declaration (type_identifier) @early)
(optional_type_parameter_declaration name: (type_identifier) @early)
(compound_statement (alias_declaration name: (type_identifier) @binding))
(compound_statement (struct_specifier name: (type_identifier) @binding body: (_)))
(compound_statement (class_specifier name: (type_identifier) @binding body: (_)))
(parameter_declaration type: (qualified_identifier) @type declarator: (_) @binding)
(declaration
  type: (qualified_identifier) @type
  declarator: [
    (identifier) @binding
    (pointer_declarator) @binding
    (init_declarator declarator: (identifier) @binding)
    (init_declarator declarator: (pointer_declarator) @binding)
  ])
