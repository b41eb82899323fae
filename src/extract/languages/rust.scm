; Definitions.
(struct_item name: (type_identifier) @name) @definition.struct
(enum_item name: (type_identifier) @name) @definition.enum
(union_item name: (type_identifier) @name) @definition.union
(type_item name: (type_identifier) @name) @definition.type
(trait_item name: (type_identifier) @name) @definition.trait
(associated_type name: (type_identifier) @name) @definition.type
(function_item name: (identifier) @name) @definition.function
(function_signature_item name: (identifier) @name) @definition.function
(macro_definition name: (identifier) @name) @definition.macro
(mod_item name: (identifier) @name body: (_)) @definition.module
(const_item name: (identifier) @name) @definition.constant
((const_item name: (identifier) @local) (#eq? @local "_"))
(static_item name: (identifier) @name) @definition.constant
(enum_variant name: (identifier) @name) @definition.variant
(field_declaration name: (field_identifier) @name) @definition.field

; An impl block is not a symbol itself, but its type contains what is in it.
(impl_item type: (type_identifier) @name) @scope
(impl_item type: (generic_type type: (type_identifier) @name)) @scope
(impl_item type: (scoped_type_identifier name: (type_identifier) @name)) @scope
(impl_item type: (generic_type type: (scoped_type_identifier name: (type_identifier) @name))) @scope
(impl_item type: (reference_type type: [
  (type_identifier) @name
  (generic_type type: [(type_identifier) @name (scoped_type_identifier name: (type_identifier) @name)])
  (scoped_type_identifier name: (type_identifier) @name)
  (dynamic_type trait: [(type_identifier) @name (generic_type type: (type_identifier) @name)])
  (primitive_type) @name
  (array_type) @name
  (tuple_type) @name
])) @scope
(impl_item type: (pointer_type type: [
  (type_identifier) @name
  (generic_type type: (type_identifier) @name)
  (primitive_type) @name
])) @scope
(impl_item type: (dynamic_type trait: [
  (type_identifier) @name
  (generic_type type: [(type_identifier) @name (scoped_type_identifier name: (type_identifier) @name)])
  (scoped_type_identifier name: (type_identifier) @name)
])) @scope
(impl_item type: (_) @name) @scope

; Trait implementations and bounds.
(impl_item trait: (type_identifier) @implements type: (_) @implementor)
(impl_item trait: (generic_type type: (type_identifier) @implements) type: (_) @implementor)
(impl_item trait: (scoped_type_identifier name: (type_identifier) @implements) type: (_) @implementor)
(trait_item bounds: (trait_bounds (type_identifier) @inherits))
(trait_item bounds: (trait_bounds (generic_type type: (type_identifier) @inherits)))
(trait_item bounds: (trait_bounds (scoped_type_identifier name: (type_identifier) @inherits)))

; Items in the bodies of macros, where items may be.
([
  (source_file (macro_invocation macro: (_) @_macro (token_tree) @items))
  (source_file (expression_statement (macro_invocation macro: (_) @_macro (token_tree) @items)))
  (declaration_list (macro_invocation macro: (_) @_macro (token_tree) @items))
] (#not-match? @_macro "\\bbitflags$"))

; Flags of `bitflags!`, which are written like constants without a type in a struct.
(macro_invocation
  macro: (_) @_macro
  (token_tree "struct" @signature . (identifier) @name . [(crate) (identifier) (primitive_type) "::"]+ . (token_tree) @definition.struct @body)
  (#match? @_macro "\\bbitflags$"))
(macro_invocation
  macro: (_) @_macro
  (token_tree "impl" . (identifier) @name . [(crate) (identifier) (primitive_type) "::"]+ . (token_tree) @scope)
  (#match? @_macro "\\bbitflags$"))
(macro_invocation
  macro: (_) @_macro
  (token_tree (token_tree "const" . (identifier) @name @definition.constant))
  (#match? @_macro "\\bbitflags$"))

; Imports. The modules before the braces of lists are the parts of one.
(use_declaration argument: (identifier) @import.module)
(use_declaration argument: (scoped_identifier path: (_) @import.module name: (identifier) @import.name))
(use_declaration argument: (use_wildcard (_) @import.module) @import.wildcard)
(use_declaration
  argument: (use_as_clause
    path: (scoped_identifier path: (_) @import.module name: (identifier) @import.name)
    alias: (identifier) @import.alias))
(use_declaration
  argument: (scoped_use_list
    path: (_) @import.module
    list: (use_list [
      (identifier) @import.name
      (use_as_clause path: (identifier) @import.name alias: (identifier) @import.alias)
      (scoped_identifier path: (_) @import.module name: (identifier) @import.name)
      (use_as_clause
        path: (scoped_identifier path: (_) @import.module name: (identifier) @import.name)
        alias: (identifier) @import.alias)
      (use_wildcard (_) @import.module) @import.wildcard
      (scoped_use_list
        path: (_) @import.module
        list: (use_list [
          (identifier) @import.name
          (use_as_clause path: (identifier) @import.name alias: (identifier) @import.alias)
          (scoped_identifier path: (_) @import.module name: (identifier) @import.name)
          (use_wildcard (_) @import.module) @import.wildcard
          (scoped_use_list path: (_) @import.module list: (use_list (identifier) @import.name))
        ]))
    ])))
; `self` in a list is the module before the list.
(use_declaration
  argument: (scoped_use_list
    path: (scoped_identifier path: (_) @import.module name: (identifier) @import.name)
    list: (use_list (self))))
(use_declaration
  argument: (scoped_use_list
    path: (_) @import.module
    list: (use_list (scoped_use_list path: (identifier) @import.name list: (use_list (self))))))
(use_declaration
  argument: (scoped_use_list
    path: (_) @import.module
    list: (use_list (scoped_use_list
      path: (scoped_identifier path: (_) @import.module name: (identifier) @import.name)
      list: (use_list (self))))))
(use_declaration
  argument: (use_list [
    (scoped_identifier path: (_) @import.module name: (identifier) @import.name)
    (use_as_clause
      path: (scoped_identifier path: (_) @import.module name: (identifier) @import.name)
      alias: (identifier) @import.alias)
  ]))
(mod_item name: (identifier) @import.module !body)
(extern_crate_declaration name: (identifier) @import.module)

; References.
(call_expression function: (identifier) @name) @reference.call
(call_expression function: (field_expression field: (field_identifier) @name)) @reference.call
(call_expression function: (scoped_identifier name: (identifier) @name)) @reference.call
(call_expression function: (generic_function function: (identifier) @name)) @reference.call
(call_expression function: (generic_function function: (scoped_identifier name: (identifier) @name))) @reference.call
(call_expression function: (generic_function function: (field_expression field: (field_identifier) @name))) @reference.call
(macro_invocation macro: (identifier) @name) @reference.call
(macro_invocation macro: (scoped_identifier name: (identifier) @name)) @reference.call
(struct_expression name: (type_identifier) @name) @reference.call
((type_identifier) @name) @reference.type
(arguments (identifier) @name) @reference.use
(field_expression field: (field_identifier) @name) @reference.use
(scoped_identifier name: (identifier) @name) @reference.use
((identifier) @name (#match? @name "^[A-Z]")) @reference.use

; Parameters and local variables: their uses are no references.
(parameter pattern: (identifier) @binding)
(closure_parameters (identifier) @binding)
(let_declaration pattern: (identifier) @binding)
(tuple_pattern (identifier) @binding)
(for_expression pattern: (identifier) @binding)
