
; A reactive declaration declares what the script does not.
(program (labeled_statement
  label: (statement_identifier) @_label
  body: (expression_statement [
    (assignment_expression left: (identifier) @name) @signature
    (assignment_expression left: (array_pattern (identifier) @name)) @signature
    (parenthesized_expression (assignment_expression left: (object_pattern [
      (shorthand_property_identifier_pattern) @name
      (pair_pattern value: (identifier) @name)
    ])) @signature)
  ])
  (#eq? @_label "$")
  (#not-match? @name "^\\$")) @definition.variable @assigned)
; The head of a snippet, of which the brackets and the name are read.
(program (statement_block . (expression_statement . (identifier) @name .) .) @definition.function)
