; Modules, protocols and implementations.
((call
  target: (identifier) @_define
  (arguments . (alias) @name)
  (do_block) @body) @definition.module
  (#eq? @_define "defmodule"))
((call
  target: (identifier) @_define
  (arguments . (alias) @name)
  (do_block) @body) @definition.protocol
  (#eq? @_define "defprotocol"))
((call
  target: (identifier) @_define
  (arguments . (alias) (keywords (pair value: (alias) @name)))
  (do_block)) @scope
  (#eq? @_define "defimpl"))

((call
  target: (identifier) @_define
  (arguments . (alias) (keywords (pair value: (list) @name)))
  (do_block)) @scope
  (#eq? @_define "defimpl"))

; Functions and macros: clauses in a row are one.
((call
  target: (identifier) @_define
  (arguments . [
    (identifier) @name
    (call target: (identifier) @name (arguments) @arity)
    (binary_operator left: [(call target: (identifier) @name (arguments) @arity) (identifier) @name] operator: "when")
  ])
  (do_block)? @body) @definition.function @clause
  (#match? @_define "^(def|defp|defguard|defguardp|defdelegate|defn|defnp)$"))
((call
  target: (identifier) @_define
  (arguments . [
    (identifier) @name
    (call target: (identifier) @name (arguments) @arity)
    (binary_operator left: [(call target: (identifier) @name (arguments) @arity) (identifier) @name] operator: "when")
  ])
  (do_block)? @body) @definition.macro @clause
  (#match? @_define "^defmacrop?$"))

; Records: macros that make and read them.
((call target: [(identifier) @_define (dot right: (identifier) @_define)] (arguments . (atom) @name.signed)) @definition.macro
  (#match? @_define "^defrecordp?$"))

; Operators.
((call
  target: (identifier) @_define
  (arguments . [
    (binary_operator left: (_) operator: _ @name right: (_))
    (unary_operator operator: _ @name)
  ])
  (do_block)? @body) @definition.operator @clause
  (#match? @_define "^(def|defp|defmacro|defmacrop|defguard|defguardp)$")
  (#not-match? @name "^(when|@|\\\\\\\\)$"))
((call
  target: (identifier) @_define
  (arguments . (binary_operator left: (binary_operator left: (_) operator: _ @name) operator: "when"))
  (do_block)? @body) @definition.operator @clause
  (#match? @_define "^(def|defp|defmacro|defmacrop|defguard|defguardp)$"))

; Attributes: types, callbacks, and those that a module makes up.
((unary_operator
  operator: "@"
  operand: (call
    target: (identifier) @_attribute
    (arguments . (binary_operator left: [(identifier) @name (call target: (identifier) @name)])))) @definition.type
  (#match? @_attribute "^(type|typep|opaque)$"))
((unary_operator
  operator: "@"
  operand: (call
    target: (identifier) @_attribute
    (arguments . (binary_operator left: [
      (call target: (identifier) @name)
      (binary_operator left: (call target: (identifier) @name))
    ])))) @definition.function
  (#match? @_attribute "^(callback|macrocallback)$"))
((unary_operator operator: "@" operand: (call target: (identifier) @name (arguments))) @definition.constant
  (#not-match? @name "^(moduledoc|doc|typedoc|spec|type|typep|opaque|callback|macrocallback|behaviour|impl|derive|dialyzer|optional_callbacks|compile|external_resource|enforce_keys|before_compile|after_compile|on_load|on_definition|shortdoc|deprecated|since|tag|moduletag|describetag|vsn)$"))

; Fields of structs and exceptions.
((call
  target: (identifier) @_define
  (arguments [
    (list [(atom) @name.signed @definition.field (keywords (pair key: (keyword) @name.signed) @definition.field)])
    (keywords (pair key: (keyword) @name.signed) @definition.field)
  ]))
  (#match? @_define "^(defstruct|defexception)$"))

; Inheritance.
((unary_operator operator: "@" operand: (call target: (identifier) @_attribute (arguments . (alias) @implements)))
  (#eq? @_attribute "behaviour"))
((call
  target: (identifier) @_define
  (arguments . (alias) @implements (keywords (pair value: (alias) @implementor))))
  (#eq? @_define "defimpl"))

; Imports.
((call
  target: (identifier) @_alias
  (arguments . (dot left: (alias) @import.module right: (tuple (alias) @import.name))))
  (#match? @_alias "^(alias|import|require|use)$"))
((call
  target: (identifier) @_alias
  (arguments . (alias) @import.module (keywords (pair key: (keyword) @_as value: (alias) @import.alias))))
  (#eq? @_alias "alias")
  (#match? @_as "^as:"))
((call target: (identifier) @_import (arguments . (alias) @import.module)) @import.wildcard
  (#eq? @_import "import"))
((call target: (identifier) @_alias (arguments . (alias) @import.module))
  (#match? @_alias "^(alias|import|require|use)$"))

; Specifications: what they name are types, but for the function that they are of.
((unary_operator
  operator: "@"
  operand: (call
    target: (identifier) @_attribute
    (arguments . [
      (binary_operator left: [(identifier) @name (call target: (identifier) @name)] operator: "::")
      (binary_operator
        left: (binary_operator left: [(identifier) @name (call target: (identifier) @name)] operator: "::")
        operator: "when")
    ]))) @reference.signature
  (#eq? @_attribute "spec"))
((unary_operator operator: "@" operand: (call target: (identifier) @_attribute (arguments) @types))
  (#match? @_attribute "^(spec|callback|macrocallback|type|typep|opaque)$"))

; References.
((call target: (identifier) @name) @reference.call
  (#not-match? @name "^(def|defp|defmacro|defmacrop|defguard|defguardp|defdelegate|defmodule|defprotocol|defimpl|defstruct|defexception|defn|defnp|alias|import|require|use|if|unless|case|cond|with|for|quote|unquote|receive|try|moduledoc|doc|spec|type|typep|opaque|typedoc|behaviour|callback|impl)$"))
(call target: (dot right: (identifier) @name)) @reference.call
(struct (alias) @name) @reference.call
(unary_operator operator: "&" operand: (binary_operator left: (identifier) @name operator: "/")) @reference.use
(unary_operator operator: "@" operand: (identifier) @name) @reference.use
(arguments (identifier) @name) @reference.use
((alias) @name) @reference.use
