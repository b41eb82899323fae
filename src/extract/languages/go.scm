; Definitions.
(function_declaration name: (identifier) @name) @definition.function
(method_declaration
  receiver: (parameter_list (parameter_declaration type: [
    (type_identifier) @container
    (_ (type_identifier) @container)
    (_ (_ (type_identifier) @container))
    (_ (_ (generic_type type: (type_identifier) @container)))
  ]))
  name: (field_identifier) @name) @definition.method
(method_declaration name: (field_identifier) @name) @definition.method
(type_declaration
  (type_spec name: (type_identifier) @name type: (struct_type (field_declaration_list) @body)) @definition.struct)
(type_declaration
  (type_spec name: (type_identifier) @name type: (interface_type "{" @body)) @definition.interface)
(type_declaration (type_spec name: (type_identifier) @name) @definition.type)
(type_declaration (type_alias name: (type_identifier) @name) @definition.type)
(type_declaration
  (type_spec type: (struct_type (field_declaration_list
    (field_declaration name: (field_identifier) @name) @definition.field))))
(type_declaration
  (type_spec type: (struct_type (field_declaration_list
    (field_declaration !name type: [
      (type_identifier) @name
      (qualified_type name: (type_identifier) @name)
      (generic_type type: [(type_identifier) @name (qualified_type name: (type_identifier) @name)])
    ]) @definition.field))))
(type_declaration
  (type_spec type: (interface_type (method_elem name: (field_identifier) @name) @definition.method)))
; Members of types without a name: of a package's variables, of fields, and of what a named type is made of.
(source_file (var_declaration [
  (var_spec type: [
    (struct_type (field_declaration_list (field_declaration name: (field_identifier) @name) @definition.field))
    (_ (struct_type (field_declaration_list (field_declaration name: (field_identifier) @name) @definition.field)))
    (_ (_ (struct_type (field_declaration_list (field_declaration name: (field_identifier) @name) @definition.field))))
    (interface_type (method_elem name: (field_identifier) @name) @definition.method)
    (_ (interface_type (method_elem name: (field_identifier) @name) @definition.method))
    (_ (_ (interface_type (method_elem name: (field_identifier) @name) @definition.method)))
  ])
  (var_spec_list (var_spec type: [
    (struct_type (field_declaration_list (field_declaration name: (field_identifier) @name) @definition.field))
    (_ (struct_type (field_declaration_list (field_declaration name: (field_identifier) @name) @definition.field)))
    (_ (_ (struct_type (field_declaration_list (field_declaration name: (field_identifier) @name) @definition.field))))
    (interface_type (method_elem name: (field_identifier) @name) @definition.method)
    (_ (interface_type (method_elem name: (field_identifier) @name) @definition.method))
    (_ (_ (interface_type (method_elem name: (field_identifier) @name) @definition.method)))
  ]))
  (var_spec value: (expression_list (composite_literal type: [
    (struct_type (field_declaration_list (field_declaration name: (field_identifier) @name) @definition.field))
    (_ (struct_type (field_declaration_list (field_declaration name: (field_identifier) @name) @definition.field)))
    (_ (_ (struct_type (field_declaration_list (field_declaration name: (field_identifier) @name) @definition.field))))
  ])))
  (var_spec_list (var_spec value: (expression_list (composite_literal type: [
    (struct_type (field_declaration_list (field_declaration name: (field_identifier) @name) @definition.field))
    (_ (struct_type (field_declaration_list (field_declaration name: (field_identifier) @name) @definition.field)))
    (_ (_ (struct_type (field_declaration_list (field_declaration name: (field_identifier) @name) @definition.field))))
  ]))))
]))
(field_declaration type: [
  (struct_type (field_declaration_list (field_declaration name: (field_identifier) @name) @definition.field))
  (_ (struct_type (field_declaration_list (field_declaration name: (field_identifier) @name) @definition.field)))
  (_ (_ (struct_type (field_declaration_list (field_declaration name: (field_identifier) @name) @definition.field))))
  (interface_type (method_elem name: (field_identifier) @name) @definition.method)
  (_ (interface_type (method_elem name: (field_identifier) @name) @definition.method))
  (_ (_ (interface_type (method_elem name: (field_identifier) @name) @definition.method)))
])
(type_declaration [
  (type_spec type: [
    (_ (struct_type (field_declaration_list (field_declaration name: (field_identifier) @name) @definition.field)))
    (_ (_ (struct_type (field_declaration_list (field_declaration name: (field_identifier) @name) @definition.field))))
    (_ (interface_type (method_elem name: (field_identifier) @name) @definition.method))
    (_ (_ (interface_type (method_elem name: (field_identifier) @name) @definition.method)))
  ])
  (type_alias type: [
    (struct_type (field_declaration_list (field_declaration name: (field_identifier) @name) @definition.field))
    (_ (struct_type (field_declaration_list (field_declaration name: (field_identifier) @name) @definition.field)))
    (_ (_ (struct_type (field_declaration_list (field_declaration name: (field_identifier) @name) @definition.field))))
    (interface_type (method_elem name: (field_identifier) @name) @definition.method)
    (_ (interface_type (method_elem name: (field_identifier) @name) @definition.method))
    (_ (_ (interface_type (method_elem name: (field_identifier) @name) @definition.method)))
  ])
])
(const_spec name: (identifier) @name) @definition.constant
(var_spec name: (identifier) @name) @definition.variable

; The blank identifier defines nothing.
([
  (function_declaration name: (identifier) @local)
  (method_declaration name: (field_identifier) @local)
  (field_declaration name: (field_identifier) @local)
  (type_spec name: (type_identifier) @local)
  (type_alias name: (type_identifier) @local)
  (const_spec name: (identifier) @local)
  (var_spec name: (identifier) @local)
] (#eq? @local "_"))

; Constants and variables of functions are their own.
(block) @local

; Embedding.
(type_declaration
  (type_spec type: (struct_type (field_declaration_list (field_declaration !name type: [
    (type_identifier) @inherits
    (qualified_type name: (type_identifier) @inherits)
    (generic_type type: (type_identifier) @inherits)
  ])))))
(type_declaration
  (type_spec type: (interface_type (type_elem . [
    (type_identifier) @inherits
    (qualified_type name: (type_identifier) @inherits)
  ] .))))

; Imports.
(import_spec name: (dot) @import.wildcard path: (_) @import.module)
(import_spec name: (package_identifier) @import.alias path: (_) @import.module)
(import_spec path: (_) @import.module)

; References.
(call_expression function: (identifier) @name) @reference.call
(call_expression function: (selector_expression field: (field_identifier) @name)) @reference.call
(call_expression function: (parenthesized_expression (identifier) @name)) @reference.call
(call_expression function: (index_expression operand: (identifier) @name)) @reference.call
(call_expression function: (type_instantiation_expression type: (type_identifier) @name)) @reference.call
(composite_literal type: (type_identifier) @name) @reference.call
(composite_literal type: (qualified_type name: (type_identifier) @name)) @reference.call
(composite_literal type: (generic_type type: (type_identifier) @name)) @reference.call
((type_identifier) @name) @reference.type

; Names passed around as values.
(argument_list (identifier) @name) @reference.use
(keyed_element value: (literal_element (identifier) @name)) @reference.use
(literal_value (literal_element (identifier) @name)) @reference.use
(var_spec value: (expression_list (identifier) @name)) @reference.use
(assignment_statement right: (expression_list (identifier) @name)) @reference.use
(short_var_declaration right: (expression_list (identifier) @name)) @reference.use
(selector_expression field: (field_identifier) @name) @reference.use
(keyed_element key: (literal_element (identifier) @name)) @reference.use
((identifier) @name (#match? @name "^[A-Z]")) @reference.use

; Parameters and local variables: their uses are no references.
(parameter_declaration name: (identifier) @binding)
(short_var_declaration left: (expression_list (identifier) @binding))
(range_clause left: (expression_list (identifier) @binding))
