; Definitions. The type of a result has the field `name`, too: findings/swift-name-of-the-result.sh.
(class_declaration declaration_kind: "class" name: (type_identifier) @name) @definition.class
(class_declaration declaration_kind: "actor" name: (type_identifier) @name) @definition.class
(class_declaration declaration_kind: "struct" name: (type_identifier) @name) @definition.struct
(class_declaration declaration_kind: "enum" name: (type_identifier) @name) @definition.enum
(class_declaration declaration_kind: "extension" name: (user_type (type_identifier) @name .)) @definition.extension
(class_declaration
  declaration_kind: "extension"
  name: (user_type (type_identifier) @name . (type_arguments) .)) @definition.extension
(class_declaration
  declaration_kind: "extension"
  name: [(array_type) (dictionary_type) (optional_type) (tuple_type)] @name) @definition.extension
(protocol_declaration name: (type_identifier) @name) @definition.protocol
(typealias_declaration "typealias" . name: (type_identifier) @name) @definition.type
(associatedtype_declaration name: (type_identifier) @name) @definition.type
(function_declaration "func" . name: _ @name) @definition.function
(protocol_function_declaration name: (simple_identifier) @name) @definition.function
(protocol_function_declaration [
  "!=" "!==" "%" "%=" "&" "*" "*=" "+" "++" "+=" "-" "--" "-=" "/" "/=" "<" "<<" "<=" "==" "===" ">" ">=" ">>" "^" "|" "~"
  (bang)
] @name . (parameter)) @definition.function
(protocol_function_declaration (custom_operator) @name) @definition.function
(operator_declaration [
  "!=" "!==" "%" "%=" "&" "*" "*=" "+" "++" "+=" "-" "--" "-=" "/" "/=" "<" "<<" "<=" "==" "===" ">" ">=" ">>" "^" "|" "~"
  (bang) (custom_operator)
] @name) @definition.operator
(precedence_group_declaration "precedencegroup" . (simple_identifier) @name) @definition.operator
(init_declaration "init" @name) @definition.constructor
(deinit_declaration "deinit" @name) @definition.method
(subscript_declaration "subscript" @name (computed_property) @body) @definition.method
(subscript_declaration "subscript" @name) @definition.method
(enum_entry name: (simple_identifier) @name) @definition.variant
(protocol_property_declaration name: (pattern bound_identifier: (simple_identifier) @name)) @definition.property
(class_body (property_declaration
  name: (pattern bound_identifier: (simple_identifier) @name)
  computed_value: (_) @body) @definition.property)
(class_body (property_declaration
  name: (pattern bound_identifier: (simple_identifier) @name)) @definition.property)
(enum_class_body (property_declaration
  name: (pattern bound_identifier: (simple_identifier) @name)
  computed_value: (_) @body) @definition.property)
(enum_class_body (property_declaration
  name: (pattern bound_identifier: (simple_identifier) @name)) @definition.property)
(property_declaration
  name: (pattern bound_identifier: (simple_identifier) @name)
  computed_value: (_) @body) @definition.variable
(property_declaration name: (pattern bound_identifier: (simple_identifier) @name)) @definition.variable
[
  (class_body (property_declaration name: (pattern (pattern [
    (simple_identifier) @name @definition.property
    (pattern (simple_identifier) @name @definition.property)
  ]))) @signature)
  (enum_class_body (property_declaration name: (pattern (pattern (simple_identifier) @name @definition.property))) @signature)
]
(property_declaration
  name: (pattern [
    (pattern (simple_identifier) @name @definition.variable)
    (pattern (pattern (simple_identifier) @name @definition.variable))
    (tuple_expression value: (simple_identifier) @name @definition.variable)
  ])) @signature
(macro_declaration "macro" . (simple_identifier) @name) @definition.macro

; Bodies whose variables are their own.
(function_body) @local
(computed_property) @local
(willset_didset_block) @local
(lambda_literal) @local

; Inheritance. The first type after a class may be its superclass; the others are protocols.
(protocol_declaration (inheritance_specifier inherits_from: (user_type (type_identifier) @inherits)))
(class_declaration
  declaration_kind: "class"
  name: (_) . (type_parameters)? . (inheritance_specifier inherits_from: (user_type . (type_identifier) @inherits)))
(class_declaration (inheritance_specifier inherits_from: (user_type . (type_identifier) @implements)))

; Imports.
(import_declaration (identifier) @import.module)

; References.
(call_expression . (simple_identifier) @name) @reference.call
(call_expression . (navigation_expression suffix: (navigation_suffix suffix: (simple_identifier) @name))) @reference.call
(constructor_expression constructed_type: (user_type (type_identifier) @name)) @reference.call
(attribute (user_type (type_identifier) @name)) @reference.call
(user_type (type_identifier) @name) @reference.type

; Names passed around as values.
(value_argument value: (simple_identifier) @name) @reference.use
(property_declaration value: (simple_identifier) @name) @reference.use
(assignment result: (simple_identifier) @name) @reference.use
(navigation_suffix suffix: (simple_identifier) @name) @reference.use
((simple_identifier) @name (#match? @name "^_*[A-Z]")) @reference.use
