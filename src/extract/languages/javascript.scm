
; JavaScript alone: its grammar calls fields, names of classes and heritage otherwise than TypeScript's.
(field_definition
  property: (_) @name
  value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @definition.method
(field_definition property: (_) @name) @definition.field
(class_heritage (identifier) @inherits)
(class_heritage (member_expression property: (property_identifier) @inherits))

; Parameters and local variables: their uses are no references.
(formal_parameters (identifier) @binding)
(assignment_pattern left: (identifier) @binding)
(arrow_function parameter: (identifier) @binding)
(object_pattern (shorthand_property_identifier_pattern) @binding)
(for_in_statement left: (identifier) @binding)
