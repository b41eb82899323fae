; Blocks by their last label; of two labels the first is the type that references begin with.
((config_file (body (block
  . (identifier) @_block
  . (string_lit (template_literal) @container)
  . (string_lit (template_literal) @name)
  (block_start) @body) @definition.resource))
  (#match? @_block "^(resource|data|ephemeral)$"))
(config_file (body (block
  . (identifier)
  . (string_lit (template_literal) @container)
  . (string_lit (template_literal) @name)
  (block_start) @body) @definition.block))
((config_file (body (block
  . (identifier) @_block . (string_lit (template_literal) @name) . (block_start) @body) @definition.module))
  (#eq? @_block "module"))
((config_file (body (block
  . (identifier) @_block . (string_lit (template_literal) @name) . (block_start) @body) @definition.variable))
  (#match? @_block "^(variable|output)$"))
(config_file (body (block
  . (identifier) . (string_lit (template_literal) @name) . (block_start) @body) @definition.block))
; A label may be a plain word.
((config_file (body (block
  . (identifier) @_block . [(identifier) (string_lit)] @container . (identifier) @name . (block_start) @body) @definition.resource))
  (#match? @_block "^(resource|data|ephemeral)$"))
((config_file (body (block . (identifier) @_block . (identifier) @name . (block_start) @body) @definition.module))
  (#eq? @_block "module"))
((config_file (body (block . (identifier) @_block . (identifier) @name . (block_start) @body) @definition.variable))
  (#match? @_block "^(variable|output)$"))
(config_file (body (block . (identifier) . (identifier) @name . (block_start) @body) @definition.block))
((config_file (body (block
  . (identifier) @_block . (block_start) (body (attribute . (identifier) @name) @definition.variable))))
  (#eq? @_block "locals"))
((config_file (body (block . (identifier) @name . (block_start) @body) @definition.block))
  (#not-eq? @name "locals"))
(config_file (body (attribute . (identifier) @name) @definition.key))

; Imports.
((block
  . (identifier) @_block
  (body (attribute
    . (identifier) @_source
    (expression (literal_value (string_lit (template_literal) @import.module))))))
  (#eq? @_block "module")
  (#eq? @_source "source"))

; References.
(function_call (identifier) @name) @reference.call
(get_attr (identifier) @name) @reference.use
