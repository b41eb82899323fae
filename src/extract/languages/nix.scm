; Attributes are functions if a function follows them; those of a `let` are private, but are
; looked for just as well. Of a path of attributes the last one is the name.
(binding attrpath: (attrpath attr: (identifier) @name .) expression: (function_expression)) @definition.function
(binding attrpath: (attrpath attr: (identifier) @name .)) @definition.key
((binding attrpath: (attrpath attr: (string_expression (string_fragment) @name) @_whole .)) @definition.key (#not-match? @_whole "[$][{]"))

; Imports: a file that is read, and those that a list or a call names.
((binding
  attrpath: (attrpath attr: (identifier) @import.alias .)
  expression: [
    (apply_expression function: (variable_expression name: (identifier) @_import) argument: (path_expression) @import.module)
    (apply_expression function: (apply_expression
      function: (variable_expression name: (identifier) @_import)
      argument: (path_expression) @import.module))
  ])
  (#eq? @_import "import"))
((apply_expression function: (variable_expression name: (identifier) @_import) argument: (path_expression) @import.module)
  (#eq? @_import "import"))
(list_expression element: (path_expression) @import.module)
(apply_expression argument: (path_expression) @import.module)
(spath_expression) @import.module

; Parameters.
(formal name: (identifier) @binding)
(function_expression universal: (identifier) @binding)

; References.
(apply_expression function: (variable_expression name: (identifier) @name)) @reference.call
(apply_expression function: (select_expression attrpath: (attrpath attr: (identifier) @name .))) @reference.call
(select_expression attrpath: (attrpath attr: (identifier) @name)) @reference.use
(inherited_attrs attr: (identifier) @name) @reference.use
(variable_expression name: (identifier) @name) @reference.use
