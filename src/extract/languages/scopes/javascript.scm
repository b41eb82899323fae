; Parameters of JavaScript, whose grammar has no node for one.
(formal_parameters
  [(identifier) (object_pattern) (array_pattern) (assignment_pattern) (rest_pattern)] @early)
(class_declaration name: (_) @early)
