; Definitions. A schema before the name is its container.
(create_table [(keyword_table) (keyword_exists)]
  . (object_reference schema: (identifier) @container name: (identifier) @name)
  (column_definitions) @body) @definition.table
(create_table [(keyword_table) (keyword_exists)]
  . (object_reference name: (identifier) @name)
  (column_definitions) @body) @definition.table
(create_table [(keyword_table) (keyword_exists)]
  . (object_reference schema: (identifier) @container name: (identifier) @name)) @definition.table
(create_table [(keyword_table) (keyword_exists)] . (object_reference name: (identifier) @name)) @definition.table
(create_table (column_definitions (column_definition name: (identifier) @name) @definition.field))
(create_table (column_definitions (column_definition name: (literal) @name) @definition.field))
(create_type (column_definitions (column_definition name: [(identifier) (literal)] @name) @definition.field))
(create_type (enum_elements enum_element: (literal) @name @definition.variant))
(create_view (identifier) @name @definition.field)
(create_view [(keyword_view) (keyword_exists)]
  . (object_reference schema: (identifier) @container name: (identifier) @name)) @definition.view
(create_view [(keyword_view) (keyword_exists)] . (object_reference name: (identifier) @name)) @definition.view
(create_materialized_view [(keyword_view) (keyword_exists)]
  . (object_reference schema: (identifier) @container name: (identifier) @name)) @definition.view
(create_materialized_view [(keyword_view) (keyword_exists)]
  . (object_reference name: (identifier) @name)) @definition.view
(create_function (keyword_function)
  . (object_reference schema: (identifier) @container name: (identifier) @name)) @definition.function
(create_function (keyword_function) . (object_reference name: (identifier) @name)) @definition.function
(create_trigger (keyword_trigger) . (object_reference name: (identifier) @name)) @definition.trigger
(create_trigger (keyword_trigger)
  . (object_reference schema: (identifier) @container name: (identifier) @name)) @definition.trigger
(create_index column: (identifier) @name . (keyword_on)) @definition.index
(create_type (keyword_type)
  . (object_reference schema: (identifier) @container name: (identifier) @name)) @definition.type
(create_type (keyword_type) . (object_reference name: (identifier) @name)) @definition.type
(create_sequence (object_reference name: (identifier) @name)) @definition.variable
(create_schema [(keyword_schema) (keyword_exists)] . (identifier) @name) @definition.namespace
(alter_table
  (object_reference schema: (identifier)? @container name: (identifier) @container)
  (add_column (keyword_column) (column_definition name: [(identifier) (literal)] @name) @definition.field)
  (#not-match? @name "^(?i)(enable|disable|force|no|cluster|inherit|attach|detach|validate|replica|set|reset|owner|generated)$"))
; Without `COLUMN`, the grammar reads the first word of an index as a name.
(alter_table
  (object_reference schema: (identifier)? @container name: (identifier) @container)
  (add_column (column_definition name: [(identifier) (literal)] @name) @definition.field)
  (#not-match? @name "^(?i)(enable|disable|force|no|cluster|inherit|attach|detach|validate|replica|set|reset|owner|generated|key|index|fulltext|spatial|check|partition|period)$"))

; References.
(invocation (object_reference name: (identifier) @name)) @reference.call
(create_trigger (keyword_execute) (object_reference name: (identifier) @name) .) @reference.call
(column_definition type: (object_reference name: (identifier) @name)) @reference.type
(object_reference name: (identifier) @name) @reference.use
(field name: (identifier) @name) @reference.use
(column (identifier) @name) @reference.use
