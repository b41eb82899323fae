
; JavaScript alone: its grammar calls fields, names of classes and heritage otherwise than TypeScript's.
(field_definition
  property: (_) @name
  value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @definition.method
(field_definition property: (_) @name) @definition.field
(class_heritage (identifier) @inherits)
(class_heritage (member_expression property: (property_identifier) @inherits))
