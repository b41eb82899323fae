; What functions of Python bind. A class is not a block: its methods do not see what it binds.
[(function_definition) (lambda)] @function
[(list_comprehension) (set_comprehension) (dictionary_comprehension) (generator_expression)] @block
(parameters [(identifier) (list_splat_pattern) (dictionary_splat_pattern)] @hoisted)
(lambda_parameters [(identifier) (list_splat_pattern) (dictionary_splat_pattern)] @hoisted)
(default_parameter name: (identifier) @hoisted)
(typed_parameter . [(identifier) (list_splat_pattern) (dictionary_splat_pattern)] @hoisted)
(typed_default_parameter name: (identifier) @hoisted)
(assignment left: [(identifier) (pattern_list) (tuple_pattern) (list_pattern)] @hoisted)
(augmented_assignment left: (identifier) @hoisted)
(for_statement left: [(identifier) (pattern_list) (tuple_pattern) (list_pattern)] @hoisted)
(for_in_clause left: [(identifier) (pattern_list) (tuple_pattern) (list_pattern)] @early)
(as_pattern alias: (as_pattern_target (identifier) @hoisted))
(named_expression name: (identifier) @hoisted)
(function_definition name: (identifier) @outer)
(class_definition name: (identifier) @hoisted)
(global_statement (identifier) @taken)
(nonlocal_statement (identifier) @taken)
(keyword_argument name: (identifier) @key)
