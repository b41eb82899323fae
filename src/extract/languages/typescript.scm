
; TypeScript's own definitions.
(abstract_class_declaration "class" @signature name: (_) @name body: (_) @body) @definition.class
(interface_declaration name: (_) @name) @definition.interface
(enum_declaration name: (_) @name) @definition.enum
(enum_body name: (_) @name @definition.variant)
(assignment_expression "using" left: (identifier) @name) @definition.constant
(enum_assignment name: (_) @name) @definition.variant
(type_alias_declaration name: (_) @name) @definition.type
(internal_module name: (_) @name) @definition.namespace
(module name: (_) @name) @definition.namespace
(function_signature name: (_) @name) @definition.function
((method_signature name: (property_identifier) @name) @definition.constructor (#eq? @name "constructor"))
(method_signature name: (_) @name) @definition.method
(abstract_method_signature name: (_) @name) @definition.method
(public_field_definition
  name: (_) @name
  value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @definition.method
(public_field_definition name: (_) @name value: (class body: (_) @body)) @definition.class
(public_field_definition name: (_) @name) @definition.field
(required_parameter
  [(accessibility_modifier) (override_modifier) "readonly"]
  pattern: (identifier) @name) @definition.field
(optional_parameter
  [(accessibility_modifier) (override_modifier) "readonly"]
  pattern: (identifier) @name) @definition.field
(interface_body (property_signature name: (_) @name) @definition.field)
; Object types, which may be a part of another. Brackets around words may be an indexer of Flow, or `[type in Names]`, which the
; grammar reads as a computed name.
([
  (type_alias_declaration value: (object_type (property_signature name: (_) @name) @definition.field))
  (intersection_type (object_type (property_signature name: (_) @name) @definition.field @shape))
  (union_type (object_type (property_signature name: (_) @name) @definition.field @shape))
  (array_type (object_type (property_signature name: (_) @name) @definition.field @shape))
  (parenthesized_type (object_type (property_signature name: (_) @name) @definition.field @shape))
  (generic_type (type_arguments (object_type (property_signature name: (_) @name) @definition.field @shape)))
  (variable_declarator (type_annotation (object_type (property_signature name: (_) @name) @definition.field @shape)))
  (public_field_definition (type_annotation (object_type (property_signature name: (_) @name) @definition.field @shape)))
  (property_signature (type_annotation (object_type (property_signature name: (_) @name) @definition.field @shape)))
] (#not-match? @name "^\\[[^.'\"`]*\\]$"))

; Names that an import binds are those of this file too.
(import_statement (import_require_clause . (identifier) @name)) @definition.constant
(import_alias . (identifier) @name) @definition.constant

; Imports in the CommonJS form.
(import_statement
  (import_require_clause (identifier) @import.alias source: (string) @import.module))

; Names of a module, in the callback of a dynamic import.
(call_expression
  function: (member_expression
    object: (call_expression function: (import) arguments: (arguments . (string) @import.module))
    property: (property_identifier) @_then)
  arguments: (arguments . (arrow_function
    parameters: (formal_parameters . (required_parameter pattern: (identifier) @import.alias)) @import.wildcard))
  (#eq? @_then "then"))
(call_expression
  function: (member_expression
    object: (call_expression function: (import) arguments: (arguments . (string) @import.module))
    property: (property_identifier) @_then)
  arguments: (arguments . (arrow_function
    parameters: (formal_parameters . (required_parameter pattern: (object_pattern [
      (shorthand_property_identifier_pattern) @import.name
      (pair_pattern key: (property_identifier) @import.name value: (identifier) @import.alias)
    ])))))
  (#eq? @_then "then"))

; Inheritance.
(extends_clause value: (identifier) @inherits)
(extends_clause value: (member_expression property: (property_identifier) @inherits))
(extends_type_clause type: (type_identifier) @inherits)
(extends_type_clause type: (generic_type name: (type_identifier) @inherits))
(extends_type_clause type: (nested_type_identifier name: (type_identifier) @inherits))
(implements_clause (type_identifier) @implements)
(implements_clause (generic_type name: (type_identifier) @implements))
(implements_clause (nested_type_identifier name: (type_identifier) @implements))

; References.
((type_identifier) @name) @reference.type
(type_query (identifier) @name) @reference.type

; Parameters and local variables: their uses are no references.
(required_parameter pattern: (identifier) @binding)
(optional_parameter pattern: (identifier) @binding)
(arrow_function parameter: (identifier) @binding)
(object_pattern (shorthand_property_identifier_pattern) @binding)
(for_in_statement left: (identifier) @binding)
