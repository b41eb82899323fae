; Definitions. A decorated one begins at its first decorator.
(decorated_definition
  definition: (class_definition name: (identifier) @name body: (_) @body) @signature) @definition.class
(decorated_definition
  definition: (function_definition name: (identifier) @name body: (_) @body) @signature) @definition.function
(class_definition name: (identifier) @name) @definition.class
(function_definition name: (identifier) @name) @definition.function
(type_alias_statement left: (type [(identifier) @name (generic_type . (identifier) @name)])) @definition.type

; Module and class level names, in blocks of them too: what others can import or reach through the class.
(function_definition body: (_) @local)
(class_definition
  body: (block (expression_statement (assignment left: (identifier) @name) @definition.attribute)))
(assignment right: (assignment left: (identifier) @name @definition.variable @member)) @signature
(assignment left: (identifier) @name) @definition.variable @member
(assignment left: (pattern_list [
  (identifier) @name @definition.variable @member
  (list_splat_pattern (identifier) @name @definition.variable @member)
  (tuple_pattern (identifier) @name @definition.variable @member)
  (list_pattern (identifier) @name @definition.variable @member)
])) @signature
(assignment left: (tuple_pattern (identifier) @name @definition.variable @member)) @signature
(assignment left: (list_pattern (identifier) @name @definition.variable @member)) @signature
(lambda body: (_) @local)
(named_expression name: (identifier) @name) @definition.variable @member
(for_statement left: [
  (identifier) @name @definition.variable @member
  (pattern_list (identifier) @name @definition.variable @member)
  (tuple_pattern (identifier) @name @definition.variable @member)
]) @signature
(with_statement (with_clause (with_item (as_pattern
  alias: (as_pattern_target [
    (identifier) @name @definition.variable @member
    (tuple (identifier) @name @definition.variable @member)
    (list (identifier) @name @definition.variable @member)
  ]))))) @signature
; Several names at once, however deep.
(for_in_clause left: (_) @local)
[(parameters) (lambda_parameters)] @local
[
  (pattern_list (identifier) @name @definition.variable @member)
  (pattern_list (list_splat_pattern (identifier) @name @definition.variable @member))
  (tuple_pattern (identifier) @name @definition.variable @member)
  (tuple_pattern (list_splat_pattern (identifier) @name @definition.variable @member))
  (list_pattern (identifier) @name @definition.variable @member)
  (list_pattern (list_splat_pattern (identifier) @name @definition.variable @member))
]

; Imports.
(import_statement name: (dotted_name) @import.module)
(import_statement name: (aliased_import name: (dotted_name) @import.module alias: (identifier) @import.alias))
(import_from_statement module_name: (_) @import.module name: (dotted_name) @import.name)
(import_from_statement
  module_name: (_) @import.module
  name: (aliased_import name: (dotted_name) @import.name alias: (identifier) @import.alias))
(import_from_statement module_name: (_) @import.module (wildcard_import) @import.wildcard)

; Inheritance.
(class_definition superclasses: (argument_list (identifier) @inherits))
(class_definition superclasses: (argument_list (attribute attribute: (identifier) @inherits)))
(class_definition superclasses: (argument_list (subscript value: (identifier) @inherits)))

; References.
(call function: (identifier) @name) @reference.call
(call function: (attribute attribute: (identifier) @name)) @reference.call
(decorator (identifier) @name) @reference.call
(decorator (attribute attribute: (identifier) @name)) @reference.call
(type (identifier) @name) @reference.type
(type (attribute attribute: (identifier) @name)) @reference.type
(type (generic_type (identifier) @name)) @reference.type
(type (binary_operator (identifier) @name)) @reference.type
(type (subscript (identifier) @name)) @reference.type

; Names passed around as values, and what attributes are read from.
(argument_list (identifier) @name) @reference.use
(keyword_argument value: (identifier) @name) @reference.use
(attribute attribute: (identifier) @name) @reference.use
((identifier) @name (#match? @name "^_*[A-Z]")) @reference.use

; Parameters and local variables: their uses are no references.
(parameters (identifier) @binding)
(lambda_parameters (identifier) @binding)
(default_parameter name: (identifier) @binding)
(typed_parameter . (identifier) @binding)
(typed_default_parameter name: (identifier) @binding)
(list_splat_pattern (identifier) @binding)
(dictionary_splat_pattern (identifier) @binding)
(assignment left: (identifier) @binding)
(pattern_list (identifier) @binding)
(tuple_pattern (identifier) @binding)
(for_statement left: (identifier) @binding)
(for_in_clause left: (identifier) @binding)
(as_pattern_target (identifier) @binding)
