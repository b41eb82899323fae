; Definitions. A name may carry its module with it.
(class
  name: [
    (constant) @name
    (scope_resolution scope: (_) @container name: (constant) @name)
    (scope_resolution !scope name: (constant) @name)
  ]
  body: (_) @body) @definition.class
(class name: [
  (constant) @name
  (scope_resolution scope: (_) @container name: (constant) @name)
  (scope_resolution !scope name: (constant) @name)
]) @definition.class
(module name: [
  (constant) @name
  (scope_resolution scope: (_) @container name: (constant) @name)
  (scope_resolution !scope name: (constant) @name)
]) @definition.module
(module (body_statement (method name: (_) @name) @definition.method))
(method name: (_) @name) @definition.function
(singleton_method object: (self) name: (_) @name) @definition.method
(singleton_method object: (_) @container name: (_) @name) @definition.method
(assignment
  left: (constant) @name
  right: (call
    receiver: (constant) @_maker
    method: (identifier) @_new
    block: (_) @body)
  (#match? @_maker "^(Struct|Class|Module|Data)$")
  (#match? @_new "^(new|define)$")) @definition.class
(assignment
  left: [
    (constant) @name
    (scope_resolution scope: (_) @container name: (constant) @name)
    (scope_resolution !scope name: (constant) @name)
  ]
  right: (call receiver: (constant) @_maker method: (identifier) @_new)
  (#match? @_maker "^(Struct|Class|Module|Data)$")
  (#match? @_new "^(new|define)$")) @definition.class
(assignment left: (left_assignment_list [
  (constant) @name @definition.constant
  (rest_assignment (constant) @name) @definition.constant
  (destructured_left_assignment (constant) @name @definition.constant)
  (scope_resolution scope: (_) @container name: (constant) @name) @definition.constant
])) @signature
(assignment left: [
  (constant) @name
  (scope_resolution scope: (self) name: (constant) @name)
  (scope_resolution !scope name: (constant) @name)
]) @definition.constant
(operator_assignment left: [
  (constant) @name
  (scope_resolution scope: (self) name: (constant) @name)
  (scope_resolution !scope name: (constant) @name)
]) @definition.constant
(assignment left: (scope_resolution scope: (_) @container name: (constant) @name)) @definition.constant
(operator_assignment left: (scope_resolution scope: (_) @container name: (constant) @name)) @definition.constant
(alias name: (global_variable) @name) @definition.variable
(alias name: [
  (simple_symbol) @name.signed
  (delimited_symbol . (string_content) @name .)
  (identifier) @name
  (constant) @name
  (operator) @name
  (setter) @name
]) @definition.method
((call
  method: (identifier) @_macro
  arguments: (argument_list [(simple_symbol) @name.signed (string) @name])) @definition.attribute
  (#match? @_macro "^(attr|attr_reader|attr_writer|attr_accessor|cattr_accessor|mattr_accessor|class_attribute)$"))
; The members of a struct.
((call
  receiver: (constant) @_maker
  method: (identifier) @_new
  arguments: (argument_list (simple_symbol) @name.signed @definition.attribute)
  block: (_)? @body) @signature
  (#match? @_maker "^(Struct|Data)$")
  (#match? @_new "^(new|define)$"))
((call
  method: (identifier) @_macro
  arguments: (argument_list . [
    (simple_symbol) @name.signed
    (string . (string_content) @name .)
    (delimited_symbol . (string_content) @name .)
  ])) @definition.method
  (#match? @_macro "^(define_method|define_singleton_method|alias_method|scope)$"))
; Methods that call those of another object.
((call
  !receiver
  method: (identifier) @_macro
  arguments: (argument_list . [(simple_symbol) (string)] (simple_symbol) @name.signed)) @definition.method
  (#match? @_macro "^def_(instance_)?delegators$"))
((call
  !receiver
  method: (identifier) @_macro
  arguments: (argument_list . [(simple_symbol) (string)] . (simple_symbol)? . (simple_symbol) @name.signed .)) @definition.method
  (#match? @_macro "^def_(instance_)?delegator$"))
((call
  !receiver
  method: (identifier) @_macro
  arguments: (argument_list (simple_symbol) @name.signed (pair key: (hash_key_symbol) @_to)) @_arguments) @definition.method
  (#eq? @_macro "delegate")
  (#eq? @_to "to")
  (#not-match? @_arguments "\\bprefix: "))
((call
  method: (identifier) @_macro
  arguments: (argument_list . [(simple_symbol) (string)] @name)) @definition.field
  (#match? @_macro "^(has_many|has_one|belongs_to|has_and_belongs_to_many|has_one_attached|has_many_attached)$"))

; Inheritance, and what is mixed in.
(superclass [(constant) @inherits (scope_resolution name: (constant) @inherits)])
((call
  !receiver
  method: (identifier) @_mix
  arguments: (argument_list [(constant) @implements (scope_resolution name: (constant) @implements)]))
  (#match? @_mix "^(include|extend|prepend)$"))

; Imports.
((call !receiver method: (identifier) @_require arguments: (argument_list . (string) @import.module))
  (#match? @_require "^(require|require_relative|load)$"))
((call
  !receiver
  method: (identifier) @_require
  arguments: (argument_list . (simple_symbol) @import.name (string) @import.module))
  (#eq? @_require "autoload"))

; References.
((call method: [(identifier) (constant)] @name) @reference.call
  (#not-match? @name "^(require|require_relative|load|attr_reader|attr_writer|attr_accessor|include|extend|prepend)$"))
(block_argument (simple_symbol) @name) @reference.use

; Names passed around as values.
(argument_list (identifier) @name) @reference.use
(pair value: (identifier) @name) @reference.use
((constant) @name) @reference.use
