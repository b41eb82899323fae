(function_statement (function_name) @name.signed "{" @body) @definition.function
((command
  command_name: (command_name) @_command
  command_elements: (command_elements . (command_argument_sep) . (generic_token) @name)) @definition.function
  (#match? @_command "(?i)^configuration$"))
(class_statement . (simple_name) @name "{" @body) @definition.class
(class_statement . (simple_name) @name) @definition.class
((class_statement . (simple_name) @_class (class_method_definition (simple_name) @name "{" @body) @definition.constructor)
  (#eq? @_class @name))
(class_method_definition (simple_name) @name "{" @body) @definition.method
(class_property_definition (variable) @name.signed) @definition.property
(enum_statement (simple_name) @name "{" @body) @definition.enum
(enum_statement (simple_name) @name) @definition.enum
(enum_member (simple_name) @name) @definition.variant

; Variables of the script; those of functions and blocks are dropped.
(script_block_body) @local
(assignment_expression
  (left_assignment_expression (logical_expression (bitwise_expression (comparison_expression (additive_expression
    (multiplicative_expression (format_expression (range_expression (array_literal_expression (unary_expression
      (variable) @name.signed))))))))))) @definition.variable
(assignment_expression
  (left_assignment_expression (logical_expression (bitwise_expression (comparison_expression (additive_expression
    (multiplicative_expression (format_expression (range_expression (array_literal_expression (unary_expression
      (expression_with_unary_operator (cast_expression (unary_expression (variable) @name.signed)))))))))))))) @definition.variable

; Imports: modules, and scripts that are read in place.
((command
  command_name: (command_name) @_command
  command_elements: (command_elements
    (generic_token) @_what
    (generic_token) @import.module .))
  (#match? @_command "(?i)^using$")
  (#match? @_what "(?i)^(module|namespace|assembly)$"))
((command
  command_name: (command_name) @_command
  command_elements: (command_elements . (command_argument_sep) . (generic_token) @import.module))
  (#match? @_command "(?i)^import-module$"))
((command
  (command_invokation_operator) @_dot
  command_name: (command_name_expr (_) @import.module))
  (#eq? @_dot "."))

; References.
(class_statement . (simple_name) (simple_name) @inherits)
(command command_name: (command_name) @name) @reference.call
(invokation_expression (member_name (simple_name) @name)) @reference.call
(member_access (member_name (simple_name) @name)) @reference.use
(type_spec (type_name (type_identifier) @name .)) @reference.type
