; What functions, blocks and macros of C bind.
[
  (function_definition)
  (compound_statement)
  (for_statement)
  (preproc_function_def)
] @block
; Parameters of what has no body.
(declaration declarator: [
  (function_declarator parameters: (_) @block)
  (init_declarator declarator: (function_declarator parameters: (_) @block))
  (pointer_declarator declarator: [
    (function_declarator parameters: (_) @block)
    (pointer_declarator declarator: (function_declarator parameters: (_) @block))
  ])
])
(field_declaration declarator: [
  (function_declarator parameters: (_) @block)
  (pointer_declarator declarator: [
    (function_declarator parameters: (_) @block)
    (pointer_declarator declarator: (function_declarator parameters: (_) @block))
  ])
])
(type_definition declarator: [
  (function_declarator parameters: (_) @block)
  (pointer_declarator declarator: (function_declarator parameters: (_) @block))
])
(parameter_declaration declarator: (function_declarator parameters: (_) @block))
(abstract_function_declarator parameters: (_) @block)
(parameter_declaration declarator: (_) @binding)
(preproc_params (identifier) @early)
(declaration declarator: [
  (identifier)
  (pointer_declarator)
  (array_declarator)
  (parenthesized_declarator)
] @binding)
(declaration declarator: (init_declarator declarator: (_) @binding))
(declaration declarator: (function_declarator declarator: (parenthesized_declarator) @binding))
(declaration (storage_class_specifier "extern") declarator: (_) @free)
(compound_statement (enum_specifier body: (enumerator_list (enumerator name: (identifier) @binding))))
(declaration
  type: [(type_identifier) (struct_specifier name: (type_identifier) @of) (union_specifier name: (type_identifier) @of)]
  declarator: (init_declarator value: (initializer_list
    (initializer_pair designator: (field_designator (field_identifier) @key)))))
(declaration
  type: (type_identifier) @of
  declarator: (init_declarator value: (initializer_list
    (initializer_pair designator: (field_designator (field_identifier) @key)))))
(initializer_pair designator: (field_designator (field_identifier) @key))
(field_declaration declarator: (_) @declared)
(statement_identifier) @declared
(parameter_declaration type: (type_identifier) @type declarator: (_) @binding)
(parameter_declaration
  type: [(struct_specifier name: (type_identifier) @type) (union_specifier name: (type_identifier) @type)]
  declarator: (_) @binding)
(declaration
  type: (type_identifier) @type
  declarator: [
    (identifier) @binding
    (pointer_declarator) @binding
    (init_declarator declarator: (identifier) @binding)
    (init_declarator declarator: (pointer_declarator) @binding)
  ])
(declaration
  type: [(struct_specifier name: (type_identifier) @type) (union_specifier name: (type_identifier) @type)]
  declarator: [
    (identifier) @binding
    (pointer_declarator) @binding
    (init_declarator declarator: (identifier) @binding)
    (init_declarator declarator: (pointer_declarator) @binding)
  ])
