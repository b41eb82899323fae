; What functions and blocks of Lua bind. A `local` of a name that the block has is another variable.
[(function_declaration) (function_definition) (block) (for_statement) (chunk)] @block
(parameters name: (identifier) @early)
(chunk (variable_declaration (assignment_statement (variable_list name: (identifier) @free))))
(variable_declaration (assignment_statement (variable_list name: (identifier) @binding))) @after @again
(variable_declaration (variable_list name: (identifier) @binding)) @after @again
(for_numeric_clause name: (identifier) @early)
(for_generic_clause (variable_list name: (identifier) @early))
(block (function_declaration "local" name: (identifier) @outer))
(table_constructor (field . name: (identifier) @key))
