; Nodes: by their label where they have one, for that is what others call them.
(node label: (identifier) @name) @definition.section
((node !label name: (identifier) @name) @definition.section (#not-eq? @name "/"))
(node name: (reference label: (identifier) @name)) @definition.section
(preproc_def name: (identifier) @name) @definition.constant
(preproc_function_def name: (identifier) @name) @definition.macro
(preproc_params (identifier) @binding)

; Imports.
(preproc_include path: (_) @import.module)
(dtsi_include path: (_) @import.module)

; References.
(property value: (reference label: (identifier) @name)) @reference.use
(integer_cells (reference label: (identifier) @name)) @reference.use
(delete_node name: (reference label: (identifier) @name)) @reference.use
(call_expression function: (identifier) @name) @reference.call
((identifier) @name (#match? @name "^[A-Z][A-Z0-9_]+$")) @reference.use
