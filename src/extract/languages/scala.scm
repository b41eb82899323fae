; Definitions.
(class_definition name: (identifier) @name) @definition.class
(object_definition name: (identifier) @name) @definition.object
(trait_definition name: (identifier) @name) @definition.trait
(enum_definition name: (identifier) @name) @definition.enum
(simple_enum_case name: (identifier) @name) @definition.variant
(full_enum_case name: (identifier) @name) @definition.variant
(package_clause name: (_) @name) @definition.package
(package_object name: (_) @name) @definition.object
(type_definition name: (type_identifier) @name) @definition.type
(given_definition name: (identifier) @name) @definition.instance
((function_definition name: (identifier) @name) @definition.constructor (#eq? @name "this"))
(template_body [(function_definition name: (_) @name) (function_declaration name: (_) @name)] @definition.method)
(function_definition name: (_) @name) @definition.function
(function_declaration name: (_) @name) @definition.function

; An extension or a given without a name is not a symbol itself, but its type contains what is in it.
; findings/tree-sitter-absent-child-behind-an-anchor.sh
(extension_definition . (parameters (parameter type: [
  (type_identifier) @name
  (stable_type_identifier (type_identifier) @name .)
  (generic_type type: [(type_identifier) @name (stable_type_identifier (type_identifier) @name .)])
]))) @scope
(extension_definition . (type_parameters) . (parameters (parameter type: [
  (type_identifier) @name
  (stable_type_identifier (type_identifier) @name .)
  (generic_type type: [(type_identifier) @name (stable_type_identifier (type_identifier) @name .)])
]))) @scope
(given_definition !name return_type: [
  (type_identifier) @name
  (stable_type_identifier (type_identifier) @name .)
  (generic_type type: [(type_identifier) @name (stable_type_identifier (type_identifier) @name .)])
]) @scope
(class_parameter name: (identifier) @name) @definition.field
(template_body (_ pattern: [
  (identifier) @name
  (identifiers (identifier) @name)
  (capture_pattern name: (identifier) @name)
  (case_class_pattern pattern: [(identifier) @name (_ pattern: (identifier) @name) (tuple_pattern (identifier) @name)])
  (infix_pattern [(identifier) @name (_ pattern: (identifier) @name) (infix_pattern (identifier) @name)])
  (tuple_pattern [(identifier) @name (_ pattern: (identifier) @name) (tuple_pattern (identifier) @name)])
]) @definition.field)
(with_template_body (_ pattern: [(identifier) @name (identifiers (identifier) @name)]) @definition.field)
(enum_body (_ pattern: [(identifier) @name (identifiers (identifier) @name)]) @definition.field)
[
  (val_definition pattern: [
    (identifier) @name
    (identifiers (identifier) @name)
    (capture_pattern name: (identifier) @name)
    (case_class_pattern pattern: [(identifier) @name (_ pattern: (identifier) @name) (tuple_pattern (identifier) @name)])
    (infix_pattern [(identifier) @name (_ pattern: (identifier) @name) (infix_pattern (identifier) @name)])
    (tuple_pattern [(identifier) @name (_ pattern: (identifier) @name) (tuple_pattern (identifier) @name)])
  ])
  (var_definition pattern: [
    (identifier) @name
    (identifiers (identifier) @name)
    (capture_pattern name: (identifier) @name)
    (case_class_pattern pattern: [(identifier) @name (_ pattern: (identifier) @name) (tuple_pattern (identifier) @name)])
    (infix_pattern [(identifier) @name (_ pattern: (identifier) @name) (infix_pattern (identifier) @name)])
    (tuple_pattern [(identifier) @name (_ pattern: (identifier) @name) (tuple_pattern (identifier) @name)])
  ])
] @definition.variable
(val_declaration name: (identifier) @name) @definition.field
(var_declaration name: (identifier) @name) @definition.field

; Bodies whose variables are their own.
(function_definition body: (_) @local)
(block) @local
(indented_block) @local
(case_block) @local

; Inheritance: the first type is the superclass, those after `with` are traits.
(extends_clause "extends" . type: [
  (type_identifier) @inherits
  (generic_type type: (type_identifier) @inherits)
  (generic_type type: (stable_type_identifier (type_identifier) @inherits))
  (stable_type_identifier (type_identifier) @inherits)
])
(extends_clause [
  (type_identifier) @implements
  (generic_type type: (type_identifier) @implements)
  (generic_type type: (stable_type_identifier (type_identifier) @implements))
  (stable_type_identifier (type_identifier) @implements)
])

; Imports. A path is several nodes: from the first to the last it is the module.
(import_declaration
  . [(identifier) "."]+ @import.module
  (namespace_wildcard) @import.wildcard)
(import_declaration
  . [(identifier) "."]+ @import.module
  (namespace_selectors (identifier) @import.name))
(import_declaration
  . [(identifier) "."]+ @import.module
  (namespace_selectors
    [(arrow_renamed_identifier name: (identifier) @import.name alias: (identifier) @import.alias)
     (as_renamed_identifier name: (identifier) @import.name alias: (identifier) @import.alias)]))
(import_declaration
  . [(identifier) "."]+ @import.module
  (namespace_selectors (namespace_wildcard) @import.wildcard))
(import_declaration
  . [(identifier) "."]+ @import.module
  path: (identifier) @import.name .)

; References.
(call_expression function: (identifier) @name) @reference.call
(call_expression function: (field_expression field: (identifier) @name)) @reference.call
(call_expression function: (generic_function function: (identifier) @name)) @reference.call
(call_expression function: (generic_function function: (field_expression field: (identifier) @name))) @reference.call
(infix_expression operator: (identifier) @name) @reference.call
(instance_expression (type_identifier) @name) @reference.call
(instance_expression (generic_type type: (type_identifier) @name)) @reference.call
(annotation name: (type_identifier) @name) @reference.call
((type_identifier) @name) @reference.type

; Names passed around as values.
(arguments (identifier) @name) @reference.use
(val_definition value: (identifier) @name) @reference.use
(field_expression field: (identifier) @name) @reference.use
((identifier) @name (#match? @name "^_*[A-Z]")) @reference.use
