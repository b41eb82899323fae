; Classes and ids, by every rule that selects them; deep in a compound selector only the selector's own words.
(rule_set (selectors [
  (class_selector (class_name) @name .)
  (id_selector (id_name) @name)
  (_ [(class_selector (class_name) @name .) (id_selector (id_name) @name)])
  (_ (_ [(class_selector (class_name) @name .) (id_selector (id_name) @name)]))
])) @definition.selector
(class_selector (class_name) @name .) @definition.selector
(id_selector (id_name) @name) @definition.selector

; Custom properties and animations.
((declaration (property_name) @name) @definition.property (#match? @name "^--"))
(keyframes_statement (keyframes_name) @name) @definition.rule

; Imports.
(import_statement (string_value) @import.module)
(import_statement (call_expression (arguments [(string_value) (plain_value)] @import.module)))

; References.
((plain_value) @name @reference.use (#match? @name "^--"))
(declaration
  (property_name) @_property
  (plain_value) @name
  (#match? @_property "^animation(-name)?$")) @reference.use
