; Functions, by name or by what they are assigned to. One without statements has no body.
(function_declaration name: (identifier) @name !body "end" @body) @definition.function
(function_declaration
  name: (dot_index_expression table: (_) @container field: (identifier) @name) !body "end" @body) @definition.function
(function_declaration
  name: (method_index_expression table: (_) @container method: (identifier) @name) !body "end" @body) @definition.method
(assignment_statement
  [(variable_list . name: (identifier) @name .) (variable_list . name: (identifier) @name . attribute: (attribute) .)]
  (expression_list . value: (function_definition !body "end" @body))) @definition.function
(assignment_statement
  (variable_list . name: (dot_index_expression table: (_) @container field: (identifier) @name) .)
  (expression_list . value: (function_definition !body "end" @body))) @definition.function
(function_declaration name: (identifier) @name) @definition.function
(function_declaration
  name: (dot_index_expression table: (_) @container field: (identifier) @name)) @definition.function
(function_declaration
  name: (method_index_expression table: (_) @container method: (identifier) @name)) @definition.method
(assignment_statement
  [(variable_list . name: (identifier) @name .) (variable_list . name: (identifier) @name . attribute: (attribute) .)]
  (expression_list . value: (function_definition body: (_) @body))) @definition.function
(assignment_statement
  (variable_list . name: (dot_index_expression table: (_) @container field: (identifier) @name) .)
  (expression_list . value: (function_definition body: (_) @body))) @definition.function
(assignment_statement
  (variable_list
    . name: (bracket_index_expression table: (_) @container field: (string content: (string_content) @name)) .)
  (expression_list . value: (function_definition))) @definition.function
(field name: (identifier) @name value: (function_definition body: (_) @body)) @definition.method
(field name: (identifier) @name value: (function_definition !body "end" @body)) @definition.method
(field
  name: (string content: (string_content) @name)
  value: (function_definition)) @definition.method

; Variables of the file, and fields that it sets. One that holds a required module is an import.
(chunk (variable_declaration (assignment_statement
  (variable_list name: (identifier) @name)
  (expression_list . value: (_) @_value)
  (#not-match? @_value "^require\\b"))) @definition.variable)
(chunk (variable_declaration (variable_list name: (identifier) @name)) @definition.variable)
(chunk (assignment_statement
  (variable_list name: (identifier) @name)
  (expression_list . value: (_) @_value)
  (#not-match? @_value "^require\\b")) @definition.variable)
(chunk (assignment_statement
  (variable_list name: (dot_index_expression table: (_) @container field: (identifier) @name))) @definition.field)

; Imports.
(variable_declaration (assignment_statement
  (variable_list . name: (identifier) @import.alias)
  (expression_list . value: (function_call
    name: (identifier) @_require
    arguments: (arguments . (string) @import.module))))
  (#eq? @_require "require"))
(function_call
  name: (identifier) @_require
  arguments: (arguments . (string) @import.module)
  (#match? @_require "^(require|dofile)$"))

; References.
(function_call name: (identifier) @name (#not-eq? @name "require")) @reference.call
(function_call name: (dot_index_expression field: (identifier) @name)) @reference.call
(function_call name: (method_index_expression method: (identifier) @name)) @reference.call

; Names passed around as values.
(arguments (identifier) @name) @reference.use
(field value: (identifier) @name) @reference.use
(expression_list value: (identifier) @name) @reference.use
(dot_index_expression field: (identifier) @name) @reference.use
((identifier) @name (#match? @name "^_*[A-Z]")) @reference.use
