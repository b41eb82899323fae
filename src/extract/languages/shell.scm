; Definitions.
(function_definition name: (word) @name) @definition.function
(function_definition) @local
(subshell) @local
(declaration_command
  (variable_assignment name: (variable_name) @name)) @definition.variable
((declaration_command (word) @_options (variable_name) @name @definition.variable) @signature
  (#match? @_options "^-[gilru]*[aA]"))
(program (variable_assignment name: (variable_name) @name) @definition.variable)
; The grammar reads what follows a line of assignments as their command, and some ends of a value, too.
([
  (program (command (variable_assignment name: (variable_name) @name) @definition.variable) @_command)
  (program (_ (command (variable_assignment name: (variable_name) @name) @definition.variable) @_command))
] (#match? @_command "^(?:\\w+\\+?=(?:[^\\s\"'()]|\"[^\"]*\"|'[^']*'|\\$\\([^()]*\\))*[ \\t]*)+(?:\\n|$)"))
(program (_ !name (variable_assignment name: (variable_name) @name) @definition.variable))
(program (_ (_ !name (variable_assignment name: (variable_name) @name) @definition.variable)))

; Sourced files.
(command
  name: (command_name (word) @_source)
  .
  argument: [(word) (string) (raw_string) (concatenation)] @import.module
  (#match? @_source "^(source|\\.)$"))

; References.
((command name: (command_name (word) @name)) @reference.call
  (#not-match? @name "^(source|\\.|alias|\\[|:|true|false|echo|cd|set|shift|exit|return)$"))
((simple_expansion (variable_name) @name) @reference.use (#match? @name "^[A-Za-z_]"))
((expansion (variable_name) @name) @reference.use (#match? @name "^[A-Za-z_]"))
((command
  name: (command_name (word) @_trap)
  .
  argument: (word) @name) @reference.use
  (#eq? @_trap "trap"))
