; What Objective-C has beyond C; the patterns of c.scm follow.

; Classes, categories, protocols.
(class_interface "@interface" . (identifier) @name category: (_)) @definition.extension
(class_interface "@interface" . (identifier) @name . "(") @definition.extension
(class_interface "@interface" . (identifier) @name) @definition.class
(class_implementation "@implementation" . (identifier) @name category: (_)) @definition.extension
(class_implementation "@implementation" . (identifier) @name) @definition.implementation
(protocol_declaration "@protocol" . (identifier) @name) @definition.protocol

; Methods by the first word of their selector. Their type may be absent.
(method_declaration (method_type) . (identifier) @name) @definition.method
(method_declaration . (identifier) @name) @definition.method
(method_definition (method_type) . (identifier) @name) @definition.method
(method_definition . (identifier) @name) @definition.method
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

; `NS_ENUM(NSInteger, Level) { … }`: the grammar knows no such macro.
((type_definition type: (macro_type_specifier name: (identifier) @_macro (ERROR (identifier) @name))) @definition.enum
  (#match? @_macro "^(NS|CF)_(CLOSED_)?(ENUM|OPTIONS)$"))
((type_definition
  type: (macro_type_specifier name: (identifier) @_macro)
  declarator: (type_identifier) @name @definition.variant)
  (#match? @_macro "^(NS|CF)_(CLOSED_)?(ENUM|OPTIONS)$"))

; Bodies whose variables are their own.
(compound_statement) @local

; Imports.
(module_import path: (_) @import.module)

; Parameters.
(method_parameter (identifier) @binding)

; References.
(class_interface superclass: (identifier) @inherits)
(class_interface (parameterized_arguments (type_name (type_identifier) @implements)))
(protocol_reference_list (identifier) @implements)
(message_expression method: (identifier) @name) @reference.call
(message_expression receiver: (identifier) @name) @reference.use
(class_declaration (identifier) @name) @reference.type
(message_expression (identifier) @name) @reference.use
