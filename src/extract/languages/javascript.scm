
; JavaScript alone: its grammar calls fields, names of classes and heritage otherwise than TypeScript's.
(field_definition
  property: (_) @name
  value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @definition.method
(field_definition property: (_) @name value: (class body: (_) @body)) @definition.class
(field_definition property: (_) @name) @definition.field
(method_definition
  name: (property_identifier) @_constructor
  body: (statement_block (expression_statement (assignment_expression
    left: (member_expression
      object: (this)
      property: [(property_identifier) @name (private_property_identifier) @name])) @definition.field @member @assigned))
  (#eq? @_constructor "constructor"))
; Names of a module, in the callback of a dynamic import.
(call_expression
  function: (member_expression
    object: (call_expression function: (import) arguments: (arguments . (string) @import.module))
    property: (property_identifier) @_then)
  arguments: (arguments . (arrow_function
    parameters: (formal_parameters . (identifier) @import.alias) @import.wildcard))
  (#eq? @_then "then"))
(call_expression
  function: (member_expression
    object: (call_expression function: (import) arguments: (arguments . (string) @import.module))
    property: (property_identifier) @_then)
  arguments: (arguments . (arrow_function
    parameters: (formal_parameters . (object_pattern [
      (shorthand_property_identifier_pattern) @import.name
      (pair_pattern key: (property_identifier) @import.name value: (identifier) @import.alias)
    ]))))
  (#eq? @_then "then"))
(class_heritage (identifier) @inherits)
(class_heritage (member_expression property: (property_identifier) @inherits))
(using_declaration (variable_declarator name: (identifier) @name) @definition.constant)

; Parameters and local variables: their uses are no references.
(formal_parameters (identifier) @binding)
(assignment_pattern left: (identifier) @binding)
(arrow_function parameter: (identifier) @binding)
(object_pattern (shorthand_property_identifier_pattern) @binding)
(for_in_statement left: (identifier) @binding)
