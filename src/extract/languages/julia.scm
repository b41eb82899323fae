(module_definition name: (identifier) @name) @definition.module

; Types.
(struct_definition (type_head [
  (identifier) @name
  (parametrized_type_expression . (identifier) @name)
  (binary_expression . [(identifier) @name (parametrized_type_expression . (identifier) @name)])
])) @definition.struct
(abstract_definition (type_head [
  (identifier) @name
  (parametrized_type_expression . (identifier) @name)
  (binary_expression . [(identifier) @name (parametrized_type_expression . (identifier) @name)])
])) @definition.type
(primitive_definition (type_head [(identifier) @name (binary_expression . (identifier) @name)])) @definition.type
(struct_definition (typed_expression . (identifier) @name) @definition.field)
(struct_definition (assignment . [(identifier) @name (typed_expression . (identifier) @name)]) @definition.field)
(struct_definition (const_statement
  (assignment . [(identifier) @name (typed_expression . (identifier) @name)])) @definition.field)
(struct_definition (macrocall_expression
  (macro_identifier (identifier) @_macro)
  (macro_argument_list . (typed_expression . (identifier) @name) @definition.field))
  (#eq? @_macro "atomic"))
(struct_definition (identifier) @name @definition.field)
((macrocall_expression
  (macro_identifier (identifier) @_macro)
  (macro_argument_list . [(identifier) @name (typed_expression . (identifier) @name)])) @definition.enum
  (#eq? @_macro "enum"))
((macrocall_expression
  (macro_identifier (identifier) @_macro)
  (macro_argument_list . (_) [
    (identifier) @name @definition.variant
    (assignment . (identifier) @name @definition.variant)
    (compound_statement [
      (identifier) @name @definition.variant
      (assignment . (identifier) @name @definition.variant)
    ])
  ]))
  (#eq? @_macro "enum"))
; The grammar reads a number and the next member as a product.
((macrocall_expression
  (macro_identifier (identifier) @_macro)
  (macro_argument_list (assignment (juxtaposition_expression (identifier) @name @definition.variant .))))
  (#eq? @_macro "enum"))

; Operators, and what is called like a function.
(function_definition (signature [
  (call_expression . [
    (operator) @name
    (field_expression (quote_expression [(operator) @name (parenthesized_expression (operator) @name)]))
    (parenthesized_expression (typed_expression (identifier) @name .))
    (parenthesized_expression (operator) @name)
  ])
  (where_expression . (call_expression . [
    (operator) @name
    (field_expression (quote_expression [(operator) @name (parenthesized_expression (operator) @name)]))
    (parenthesized_expression (typed_expression (identifier) @name .))
    (parenthesized_expression (operator) @name)
  ]))
])) @definition.function
(assignment . [
  (call_expression . [
    (operator) @name
    (field_expression (quote_expression [(operator) @name (parenthesized_expression (operator) @name)]))
    (parenthesized_expression (typed_expression (identifier) @name .))
    (parenthesized_expression (operator) @name)
  ])
  (where_expression . (call_expression . [
    (operator) @name
    (field_expression (quote_expression [(operator) @name (parenthesized_expression (operator) @name)]))
    (parenthesized_expression (typed_expression (identifier) @name .))
  ]))
]) @definition.function

; Functions: long, short, and of another module.
(function_definition (signature [
  (call_expression . [(identifier) @name (field_expression (identifier) @name .)])
  (typed_expression . (call_expression . [(identifier) @name (field_expression (identifier) @name .)]))
  (where_expression . [
    (call_expression . [(identifier) @name (field_expression (identifier) @name .) (parametrized_type_expression . (identifier) @name)])
    (typed_expression . (call_expression . [(identifier) @name (field_expression (identifier) @name .)]))
    (where_expression . [
      (call_expression . (identifier) @name)
      (typed_expression . (call_expression . (identifier) @name))
    ])
  ])
  (call_expression . (prefixed_string_literal (content) @name))
  (identifier) @name
])) @definition.function
(assignment . [
  (call_expression . [(identifier) @name (field_expression (identifier) @name .)])
  (typed_expression . (call_expression . [(identifier) @name (field_expression (identifier) @name .)]))
  (where_expression . [
    (call_expression . [
      (identifier) @name
      (field_expression (identifier) @name .)
      (parametrized_type_expression . (identifier) @name)
    ])
    (typed_expression . (call_expression . [(identifier) @name (field_expression (identifier) @name .)]))
    (where_expression . [
      (call_expression . (identifier) @name)
      (typed_expression . (call_expression . (identifier) @name))
    ])
  ])
  (call_expression . (prefixed_string_literal (content) @name))
  (binary_expression . (_) . (operator) @name)
]) @definition.function
(macro_definition (signature (call_expression . [
  (identifier) @name
  (prefixed_string_literal (content) @name)
]))) @definition.macro

; Constants and variables; those of functions and blocks are dropped.
(function_definition (signature) (_) @local)
(do_clause) @local
(let_statement) @local
(for_statement) @local
(while_statement) @local
(const_statement (assignment . (identifier) @name)) @definition.constant
(const_statement (assignment . (typed_expression . (identifier) @name))) @definition.constant
(const_statement (assignment . (parametrized_type_expression . (identifier) @name))) @definition.constant
(const_statement (assignment . [
  (open_tuple [(identifier) @name (typed_expression . (identifier) @name)] @definition.constant)
  (tuple_expression [(identifier) @name (typed_expression . (identifier) @name)] @definition.constant)
])) @signature
(source_file (assignment . (parametrized_type_expression . (identifier) @name)) @definition.constant)
(module_definition (assignment . (parametrized_type_expression . (identifier) @name)) @definition.constant)
(source_file (assignment . [(identifier) @name (typed_expression . (identifier) @name)]) @definition.variable)
(global_statement (assignment . [(identifier) @name (typed_expression . (identifier) @name)])) @definition.variable
(module_definition (assignment . [(identifier) @name (typed_expression . (identifier) @name)]) @definition.variable)
(source_file (assignment . [
  (open_tuple [(identifier) @name (typed_expression . (identifier) @name)] @definition.variable)
  (tuple_expression [(identifier) @name (typed_expression . (identifier) @name)] @definition.variable)
]) @signature)
(module_definition (assignment . [
  (open_tuple [(identifier) @name (typed_expression . (identifier) @name)] @definition.variable)
  (tuple_expression [(identifier) @name (typed_expression . (identifier) @name)] @definition.variable)
]) @signature)

; Imports.
(using_statement (selected_import . (_) @import.module (identifier) @import.name))
(using_statement (selected_import . (_) @import.module (import_alias (identifier) @import.name (identifier) @import.alias)))
(import_statement (selected_import . (_) @import.module (identifier) @import.name))
(import_statement (selected_import . (_) @import.module (import_alias (identifier) @import.name (identifier) @import.alias)))
(using_statement [(identifier) (scoped_identifier) (import_path)] @import.module @import.wildcard)
(import_statement [(identifier) (scoped_identifier) (import_path)] @import.module)
((call_expression . (identifier) @_include (argument_list . (string_literal (content) @import.module)))
  (#eq? @_include "include"))

; Parameters.
(signature (call_expression (argument_list (identifier) @binding)))
(signature (call_expression (argument_list (typed_expression . (identifier) @binding))))
(signature (typed_expression (call_expression (argument_list (identifier) @binding))))
(signature (typed_expression (call_expression (argument_list (typed_expression . (identifier) @binding)))))
(for_binding . (identifier) @binding)
(do_clause (argument_list (identifier) @binding))

; References.
(type_head (binary_expression (operator) @_operator (identifier) @inherits .) (#eq? @_operator "<:"))
(call_expression . (identifier) @name) @reference.call
(call_expression . (field_expression (identifier) @name .)) @reference.call
(call_expression . (parametrized_type_expression . (identifier) @name)) @reference.call
(macro_identifier (identifier) @name) @reference.call
(typed_expression (_) (identifier) @name .) @reference.type
(typed_expression (_) (parametrized_type_expression . (identifier) @name)) @reference.type
(parametrized_type_expression . (identifier) @name) @reference.type
(curly_expression (identifier) @name) @reference.type

; Names passed around as values.
(argument_list (identifier) @name) @reference.use
(export_statement (identifier) @name) @reference.use
(field_expression (identifier) @name .) @reference.use
((identifier) @name (#match? @name "^[A-Z]")) @reference.use
