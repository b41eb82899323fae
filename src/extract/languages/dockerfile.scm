; Stages reach to the next one; the last often has no name of its own but its image's.
(from_instruction (image_spec name: (image_name) @inherits) as: (image_alias))
(from_instruction "FROM" @level.1 as: (image_alias) @name) @definition.stage
(from_instruction "FROM" @level.1 (image_spec name: (image_name) @name) !as) @definition.stage

; Arguments and environment.
(arg_pair name: (unquoted_string) @name) @definition.variable
(env_pair name: (unquoted_string) @name) @definition.variable

; References.
(expansion (variable) @name) @reference.use
