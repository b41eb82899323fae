; Tables by their whole name, and the keys directly in them.
(table . [(bare_key) (quoted_key) (dotted_key)] @name) @definition.table
(table_array_element . [(bare_key) (quoted_key) (dotted_key)] @name) @definition.table
(document (pair . [(bare_key) (quoted_key) (dotted_key)] @name) @definition.key)
(table (pair . [(bare_key) (quoted_key) (dotted_key)] @name) @definition.key)
(table_array_element (pair . [(bare_key) (quoted_key) (dotted_key)] @name) @definition.key)
