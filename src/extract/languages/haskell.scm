; Types.
(data_type name: (name) @name) @definition.type
(newtype name: (name) @name) @definition.type
(type_synonym name: (name) @name) @definition.type
(type_synonym (infix operator: [(operator) @name (constructor_operator) @name (infix_id (_) @name)])) @definition.type
(type_synonym name: (prefix_id (_) @name)) @definition.type
(data_type (infix operator: [(constructor_operator) @name (infix_id (_) @name)])) @definition.type
(data_type name: (prefix_id (_) @name)) @definition.type
(type_family name: (name) @name) @definition.type
(data_family name: (name) @name) @definition.type
(class name: (name) @name declarations: (_) @body) @definition.class
(class name: (name) @name) @definition.class
(data_constructor constructor: [(prefix name: (constructor) @name) (record name: (constructor) @name)]) @definition.variant
(data_constructor constructor: (infix operator: [(constructor_operator) @name (infix_id (constructor) @name)])) @definition.variant
(data_constructor constructor: (prefix name: (prefix_id (_) @name))) @definition.variant
(foreign_import signature: (signature name: (variable) @name)) @definition.function
(newtype_constructor name: (constructor) @name) @definition.variant
(gadt_constructor name: (constructor) @name) @definition.variant
(gadt_constructor names: (binding_list name: (constructor) @name @definition.variant)) @signature
(field name: (field_name (variable) @name)) @definition.field
(pattern_synonym (equation synonym: [
  (apply function: (constructor) @name)
  (constructor) @name
  (record constructor: (constructor) @name)
  (infix operator: (constructor_operator) @name)
])) @definition.constant

; An instance is not a symbol itself, but its type contains what is in it.
(instance name: (name) @implements patterns: (type_patterns . (_) @implementor))
(instance patterns: (type_patterns . (name) @name)) @scope
(instance patterns: (type_patterns . (parens (apply constructor: (name) @name)))) @scope
(instance patterns: (type_patterns . (qualified id: (name) @name))) @scope
(instance patterns: (type_patterns . (parens (apply constructor: (qualified id: (name) @name))))) @scope
(instance patterns: (type_patterns . [(list) (tuple) (unit) (parens)] @name)) @scope
(instance name: (name) @name) @scope

; Functions: a signature and the clauses after it are one.
(declarations (signature name: (variable) @name) @definition.function @clause)
(declarations (signature name: (prefix_id (operator) @name)) @definition.function @clause)
(declarations (signature names: (binding_list name: (variable) @name)) @definition.function)
(declarations (function name: (variable) @name) @definition.function @clause)
(declarations (function name: (prefix_id (operator) @name)) @definition.function @clause)
(declarations (function (infix operator: [(operator) @name (infix_id (variable) @name)])) @definition.function @clause)
(declarations (function parens: (function_head_parens
  (infix operator: [(operator) @name (infix_id (variable) @name)]))) @definition.function @clause)
(declarations (bind pattern: [
  (tuple element: (variable) @name @definition.function)
  (list element: (variable) @name @definition.function)
  (apply argument: (variable) @name @definition.function)
  (strict pattern: (variable) @name @definition.function)
]) @signature)
(declarations (bind name: (variable) @name) @definition.function @clause)
(class_declarations (signature name: (variable) @name) @definition.function @clause)
(class_declarations (signature name: (prefix_id (operator) @name)) @definition.function @clause)
(class_declarations (signature names: (binding_list name: (variable) @name)) @definition.function)
(class_declarations (function name: (variable) @name) @definition.function @clause)
(class_declarations (function (infix operator: [(operator) @name (infix_id (variable) @name)])) @definition.function @clause)
(class_declarations (bind name: (variable) @name) @definition.function @clause)
(instance_declarations (function name: (variable) @name) @definition.function @clause)
(instance_declarations (function name: (prefix_id (operator) @name)) @definition.function @clause)
(instance_declarations (function (infix operator: [(operator) @name (infix_id (variable) @name)])) @definition.function @clause)
(instance_declarations (bind name: (prefix_id (operator) @name)) @definition.function @clause)
(instance_declarations (bind name: (variable) @name) @definition.function @clause)

; Imports. What is hidden is not imported.
((import module: (module) @import.module names: (import_list name: (import_name [
  (variable) @import.name
  (name) @import.name
]))) @_import (#not-match? @_import "\\bhiding\\b"))
(import module: (module) @import.module alias: (module) @import.alias)
(import module: (module) @import.module)

; References.
(apply function: (variable) @name) @reference.call
(apply function: (qualified id: (variable) @name)) @reference.call
(apply function: (constructor) @name) @reference.call
(infix operator: (infix_id (variable) @name)) @reference.call
(class context: (context context: (apply constructor: (name) @inherits)))
(deriving classes: (tuple (name) @name)) @reference.use
((name) @name) @reference.type

; Names passed around as values.
(apply argument: (variable) @name) @reference.use
(infix left_operand: (variable) @name) @reference.use
(infix right_operand: (variable) @name) @reference.use
(export variable: (variable) @name) @reference.use
(qualified id: (variable) @name) @reference.use
((constructor) @name) @reference.use
