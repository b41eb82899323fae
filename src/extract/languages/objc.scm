; Classes, categories, protocols.
(class_interface "@interface" . (identifier) @name category: (_)) @definition.extension
(class_interface "@interface" . (identifier) @name) @definition.class
(class_implementation "@implementation" . (identifier) @name category: (_)) @definition.extension
(class_implementation "@implementation" . (identifier) @name) @definition.implementation
(protocol_declaration "@protocol" . (identifier) @name) @definition.protocol

; Methods by the first word of their selector.
(method_declaration (method_type) . (identifier) @name) @definition.method
(method_definition (method_type) . (identifier) @name) @definition.method
(property_declaration (struct_declaration (struct_declarator [
  (identifier) @name
  (array_declarator declarator: (identifier) @name)
  (pointer_declarator declarator: [
    (identifier) @name
    (array_declarator declarator: (identifier) @name)
    (pointer_declarator declarator: (identifier) @name)
    (function_declarator declarator: (parenthesized_declarator [
      (block_pointer_declarator declarator: (identifier) @name)
      (pointer_declarator declarator: (identifier) @name)
    ]))
  ])
  (function_declarator declarator: (parenthesized_declarator [
    (block_pointer_declarator declarator: (identifier) @name)
    (pointer_declarator declarator: (identifier) @name)
  ]))
]))) @definition.property
(instance_variable (struct_declaration (struct_declarator [
  (identifier) @name
  (array_declarator declarator: (identifier) @name)
  (pointer_declarator declarator: [
    (identifier) @name
    (array_declarator declarator: (identifier) @name)
    (pointer_declarator declarator: (identifier) @name)
    (function_declarator declarator: (parenthesized_declarator [
      (block_pointer_declarator declarator: (identifier) @name)
      (pointer_declarator declarator: (identifier) @name)
    ]))
  ])
  (function_declarator declarator: (parenthesized_declarator [
    (block_pointer_declarator declarator: (identifier) @name)
    (pointer_declarator declarator: (identifier) @name)
  ]))
]))) @definition.field

; What C has.
(function_definition declarator: [
  (function_declarator declarator: (identifier) @name)
  (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))
]) @definition.function
(declaration declarator: [
  (function_declarator declarator: (identifier) @name)
  (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))
]) @definition.function
(struct_specifier name: (type_identifier) @name body: (_)) @definition.struct
(union_specifier name: (type_identifier) @name body: (_)) @definition.union
(enum_specifier name: (type_identifier) @name body: (_)) @definition.enum
(enumerator name: (identifier) @name) @definition.variant
(field_declaration declarator: [
  (field_identifier) @name
  (pointer_declarator declarator: (field_identifier) @name)
  (array_declarator declarator: (field_identifier) @name)
]) @definition.field
; `NS_ENUM(NSInteger, Level) { … }`: the grammar knows no such macro.
((type_definition type: (macro_type_specifier name: (identifier) @_macro (ERROR (identifier) @name))) @definition.enum
  (#match? @_macro "^(NS|CF)_(CLOSED_)?(ENUM|OPTIONS)$"))
((type_definition
  type: (macro_type_specifier name: (identifier) @_macro)
  declarator: (type_identifier) @name @definition.variant)
  (#match? @_macro "^(NS|CF)_(CLOSED_)?(ENUM|OPTIONS)$"))
(type_definition declarator: [
  (type_identifier) @name
  (pointer_declarator declarator: [
    (type_identifier) @name
    (pointer_declarator declarator: (type_identifier) @name)
    (function_declarator declarator: (parenthesized_declarator [
      (pointer_declarator declarator: (type_identifier) @name)
      (block_pointer_declarator declarator: (type_identifier) @name)
    ]))
  ])
  (function_declarator declarator: (parenthesized_declarator [
    (pointer_declarator declarator: (type_identifier) @name)
    (block_pointer_declarator declarator: (type_identifier) @name)
  ]))
]) @definition.type
(preproc_def name: (identifier) @name) @definition.constant
(preproc_function_def name: (identifier) @name) @definition.macro

; Variables of the file; those of blocks are dropped.
(compound_statement) @local
(parameter_list) @local
(declaration declarator: [
  (identifier) @name
  (pointer_declarator declarator: (identifier) @name)
  (array_declarator declarator: (identifier) @name)
  (init_declarator declarator: [
    (identifier) @name
    (array_declarator declarator: (identifier) @name)
    (pointer_declarator declarator: [(identifier) @name (array_declarator declarator: (identifier) @name)])
  ])
]) @definition.variable

; Imports.
(preproc_include path: (_) @import.module)
(module_import path: (_) @import.module)

; Parameters.
(method_parameter (identifier) @binding)
(parameter_declaration declarator: [(identifier) @binding (pointer_declarator declarator: (identifier) @binding)])

; References.
(class_interface superclass: (identifier) @inherits)
(class_interface (parameterized_arguments (type_name (type_identifier) @implements)))
(protocol_reference_list (identifier) @implements)
(message_expression method: (identifier) @name) @reference.call
(message_expression receiver: (identifier) @name) @reference.use
(call_expression function: (identifier) @name) @reference.call
(class_declaration (identifier) @name) @reference.type
((type_identifier) @name) @reference.type

; Names passed around as values.
(field_expression field: (field_identifier) @name) @reference.use
(argument_list (identifier) @name) @reference.use
(message_expression (identifier) @name) @reference.use
(init_declarator value: (identifier) @name) @reference.use
(assignment_expression right: (identifier) @name) @reference.use
((identifier) @name (#match? @name "^_*[A-Z]")) @reference.use
