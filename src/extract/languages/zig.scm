; Containers are constants that hold a type.
(variable_declaration . (identifier) @name (struct_declaration "{" @body) .) @definition.struct
(variable_declaration . (identifier) @name (enum_declaration "{" @body) .) @definition.enum
(variable_declaration . (identifier) @name (union_declaration "{" @body) .) @definition.union
(variable_declaration . (identifier) @name (opaque_declaration "{" @body) .) @definition.struct
(variable_declaration . (identifier) @name (error_set_declaration "{" @body) .) @definition.enum
(error_set_declaration (identifier) @name @definition.variant)
((enum_declaration (container_field name: (identifier) @name) @definition.variant) (#not-eq? @name "_"))
((container_field name: (identifier) @name) @definition.field (#not-eq? @name "_"))
(function_declaration name: (identifier) @name) @definition.function
(test_declaration (string) @name (block) @body) @definition.function

; Constants and variables; an imported file is an import.
(block) @local
((variable_declaration "const" . (identifier) @name (_) @_value .) @definition.constant
  (#not-match? @_value "^@(import|cImport)"))
(variable_declaration "var" . (identifier) @name) @definition.variable

; Imports.
(variable_declaration
  . (identifier) @import.alias
  (builtin_function (builtin_identifier) @_import (arguments . (string) @import.module))
  (#eq? @_import "@import"))
(builtin_function
  (builtin_identifier) @_import
  (arguments . (string) @import.module)
  (#eq? @_import "@import"))

; References.
(call_expression function: (identifier) @name) @reference.call
(call_expression function: (field_expression member: (identifier) @name)) @reference.call
(struct_initializer . (identifier) @name) @reference.call
(_ type: (identifier) @name) @reference.type
(_ type: (pointer_type (identifier) @name)) @reference.type
(_ type: (nullable_type (identifier) @name)) @reference.type
(error_union_type ok: (identifier) @name) @reference.type

; Names passed around as values.
(call_expression (identifier) @name) @reference.use
(assignment_expression right: (identifier) @name) @reference.use
(initializer_list (identifier) @name) @reference.use
(field_expression member: (identifier) @name) @reference.use
((identifier) @name (#match? @name "^[A-Z]")) @reference.use
