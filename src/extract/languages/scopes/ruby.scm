; What methods and blocks of Ruby bind. A method sees nothing of what is around it.
[(method) (singleton_method) (block) (do_block) (lambda) (in_clause)] @function
[(class) (module) (singleton_class)] @function
(method_parameters [(identifier) (splat_parameter) (destructured_parameter)] @binding)
(block_parameters [(identifier) (splat_parameter) (destructured_parameter)] @binding)
(block_parameters locals: (identifier) @binding)
(lambda_parameters [(identifier) (splat_parameter) (destructured_parameter)] @binding)
(optional_parameter name: (identifier) @binding)
(keyword_parameter name: (identifier) @binding)
(block_parameter name: (identifier) @binding)
(hash_splat_parameter name: (identifier) @binding)
(assignment left: (identifier) @binding)
(assignment left: (left_assignment_list) @binding)
(operator_assignment left: (identifier) @binding)
(exception_variable (identifier) @binding)
(for pattern: (_) @binding)
(as_pattern name: (identifier) @binding)
(array_pattern (identifier) @binding)
(call method: (identifier) @free)
(pair key: (hash_key_symbol) @key)
(keyword_pattern key: (hash_key_symbol) @key)
(simple_symbol) @key
