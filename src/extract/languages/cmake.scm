; Functions and macros; what they set is theirs.
(function_def (function_command (argument_list . (argument) @name)) (body) @body) @definition.function
(macro_def (macro_command (argument_list . (argument) @name)) (body) @body) @definition.macro
(function_def (body) @local)
(macro_def (body) @local)

; Targets, projects, options and variables.
((normal_command (identifier) @_command (argument_list . (argument) @name)) @definition.target
  (#match? @_command "^(?i)(add_executable|add_library|add_custom_target)$")
  (#not-match? @name "\\$"))
((normal_command
  (identifier) @_command
  (argument_list . (argument) @_name . (argument) @name)) @definition.target
  (#match? @_command "^(?i)add_test$")
  (#eq? @_name "NAME"))
((normal_command (identifier) @_command (argument_list . (argument) @name)) @definition.package
  (#match? @_command "^(?i)project$"))
((normal_command (identifier) @_command (argument_list . (argument) @name)) @definition.variable
  (#match? @_command "^(?i)(set|option|cmake_dependent_option)$")
  (#not-match? @name "[$}]"))

; Imports.
((normal_command (identifier) @_command (argument_list . (argument) @import.module))
  (#match? @_command "^(?i)(include|add_subdirectory|find_package)$"))

; References.
((normal_command (identifier) @_command (argument_list (argument (unquoted_argument) @name))) @reference.use
  (#match? @_command "^(?i)(target_[a-z_]+|add_dependencies|install|set_target_properties)$")
  (#not-match? @name "^[A-Z_]+$|[/$.]"))
(normal_command (identifier) @name) @reference.call
(variable_ref (normal_var (variable) @name)) @reference.use
