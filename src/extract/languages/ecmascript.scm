; What JavaScript, TypeScript and TSX share.

; Bodies whose variables are their own.
(function_declaration body: (_) @local)
(generator_function_declaration body: (_) @local)
(function_expression body: (_) @local)
(generator_function body: (_) @local)
(arrow_function body: (_) @local)
(method_definition body: (_) @local)
(class_static_block) @local
; A variable of `var` is the function's, or the file's; others are those of their blocks.
(for_statement initializer: (lexical_declaration) @local)
(for_statement body: (statement_block (lexical_declaration) @local))
(for_statement body: (statement_block (_ (statement_block (lexical_declaration) @local))))
(catch_clause body: (statement_block (lexical_declaration) @local))
(catch_clause body: (statement_block (_ (statement_block (lexical_declaration) @local))))
(for_in_statement kind: "var" left: (identifier) @name @definition.variable) @signature

; Functions, by name or by what they are assigned to.
(function_declaration name: (identifier) @name) @definition.function
(generator_function_declaration name: (identifier) @name) @definition.function
(variable_declarator
  name: (identifier) @name
  value: [
    (arrow_function body: (_) @body)
    (function_expression body: (_) @body)
    (generator_function body: (_) @body)
    (assignment_expression "=" @body) @_chain
  ]
  (#match? @_chain "^(?:[\\w$.]+\\s*=\\s*)+(?:async\\s|function\\b|\\([^()]*\\)\\s*=>|\\w+\\s*=>)")) @definition.function
(variable_declarator name: (identifier) @name value: (class body: (_) @body)) @definition.class
(assignment_expression
  left: (member_expression
    object: (member_expression
      object: [(identifier) (member_expression)] @container
      property: (property_identifier) @_prototype)
    property: (property_identifier) @name)
  right: [
    (arrow_function body: (_) @body)
    (function_expression body: (_) @body)
    (generator_function body: (_) @body)
    (assignment_expression "=" @body) @_chain
  ]
  (#match? @_chain "^(?:[\\w$.]+\\s*=\\s*)+(?:async\\s|function\\b|\\([^()]*\\)\\s*=>|\\w+\\s*=>)")
  (#eq? @_prototype "prototype")
  (#match? @container "^[\\w$.]+$")) @definition.method
(assignment_expression
  left: (member_expression
    object: [(identifier) (member_expression)] @name
    property: (property_identifier) @_prototype)
  right: (object) @scope
  (#eq? @_prototype "prototype"))
(call_expression
  function: (member_expression property: (property_identifier) @_assign)
  arguments: (arguments
    . (member_expression
      object: [(identifier) (member_expression)] @name
      property: (property_identifier) @_prototype)
    (object) @scope)
  (#match? @_assign "^(assign|extend)$")
  (#eq? @_prototype "prototype"))
; Members that the constructor sets belong to the class.
(method_definition
  name: (property_identifier) @_constructor
  body: (statement_block (expression_statement (assignment_expression
    left: (member_expression
      object: (this)
      property: [(property_identifier) @name (private_property_identifier) @name])
    right: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @definition.method @member @assigned))
  (#eq? @_constructor "constructor"))
(assignment_expression
  left: (member_expression object: (_) @_exports property: (property_identifier) @name)
  right: [
    (arrow_function body: (_) @body)
    (function_expression body: (_) @body)
    (generator_function body: (_) @body)
    (assignment_expression "=" @body) @_chain
  ]
  (#match? @_chain "^(?:[\\w$.]+\\s*=\\s*)+(?:async\\s|function\\b|\\([^()]*\\)\\s*=>|\\w+\\s*=>)")
  (#match? @_exports "^(exports|module\\.exports|window|globalThis)$")) @definition.function
; What `module.exports` is has the name of its own, else that.
(assignment_expression
  left: (member_expression object: (identifier) @_module property: (property_identifier) @_exports)
  right: [
    (function_expression name: (identifier) @name body: (_) @body)
    (generator_function name: (identifier) @name body: (_) @body)
  ]
  (#eq? @_module "module")
  (#eq? @_exports "exports")) @definition.function
(assignment_expression
  left: (member_expression object: (identifier) @_module property: (property_identifier) @_exports)
  right: (class name: (_) @name body: (_) @body)
  (#eq? @_module "module")
  (#eq? @_exports "exports")) @definition.class
(assignment_expression
  left: (member_expression object: (identifier) @_module property: (property_identifier) @name)
  right: [
    (arrow_function body: (_) @body)
    (function_expression !name body: (_) @body)
    (generator_function !name body: (_) @body)
  ]
  (#eq? @_module "module")
  (#eq? @name "exports")) @definition.function
(assignment_expression
  left: (member_expression object: (identifier) @_module property: (property_identifier) @name)
  right: (class !name body: (_) @body)
  (#eq? @_module "module")
  (#eq? @name "exports")) @definition.class
; A default export without a name.
(export_statement
  "default" @name
  value: [
    (arrow_function body: (_) @body)
    (function_expression !name body: (_) @body)
    (generator_function !name body: (_) @body)
  ]) @definition.function
(export_statement "default" @name value: (class !name body: (_) @body)) @definition.class
; In a function, what its object is given is a member of it.
(assignment_expression
  left: (member_expression
    object: [(this) (identifier)] @_this
    property: [(property_identifier) @name (private_property_identifier) @name])
  right: [
    (arrow_function body: (_) @body)
    (function_expression body: (_) @body)
    (generator_function body: (_) @body)
    (assignment_expression "=" @body) @_chain
  ]
  (#match? @_chain "^(?:[\\w$.]+\\s*=\\s*)+(?:async\\s|function\\b|\\([^()]*\\)\\s*=>|\\w+\\s*=>)")
  (#match? @_this "^(this|_this|self|_self|that)$")) @definition.function @member
(assignment_expression
  left: (member_expression
    object: [(identifier) (member_expression)] @container
    property: (property_identifier) @name)
  right: [
    (arrow_function body: (_) @body)
    (function_expression body: (_) @body)
    (generator_function body: (_) @body)
    (assignment_expression "=" @body) @_chain
  ]
  (#match? @_chain "^(?:[\\w$.]+\\s*=\\s*)+(?:async\\s|function\\b|\\([^()]*\\)\\s*=>|\\w+\\s*=>)")
  (#match? @container "^[\\w$.]+$")
  (#not-match? @container "^(this|_this|self|_self|that)\\.")
  (#not-eq? @name "exports")) @definition.function
(assignment_expression
  left: (member_expression object: (_) @_exports property: (property_identifier) @name)
  right: (class body: (_) @body)
  (#match? @_exports "^(exports|module\\.exports|window|globalThis|self)$")) @definition.class
(assignment_expression
  left: (member_expression
    object: [(identifier) (member_expression)] @container
    property: (property_identifier) @name)
  right: (class body: (_) @body)
  (#match? @container "^[\\w$.]+$")
  (#not-eq? @name "exports")) @definition.class
(assignment_expression
  left: (member_expression object: (_) @_exports property: (property_identifier) @name)
  (#match? @_exports "^(exports|module\\.exports)$")) @definition.variable

; Classes and object literals.
(class_declaration "class" @signature name: (_) @name body: (_) @body) @definition.class
((method_definition
  name: (property_identifier) @name
  body: (_) @body) @definition.constructor
  (#eq? @name "constructor"))
(method_definition name: (_) @name body: (_) @body) @definition.method
(pair
  key: (_) @name
  value: [
    (arrow_function body: (_) @body)
    (function_expression body: (_) @body)
    (generator_function body: (_) @body)
  ]) @definition.method
(pair key: (_) @name value: (class body: (_) @body)) @definition.class

; Variables. One that is bound to a required module is an import.
(lexical_declaration
  kind: "const"
  (variable_declarator name: (identifier) @name value: (_) @_value) @definition.constant
  (#not-match? @_value "^(await )?(require|import)\\b"))
(lexical_declaration
  kind: "const"
  (variable_declarator name: (identifier) @name !value) @definition.constant)
(lexical_declaration kind: "let" (variable_declarator name: (identifier) @name) @definition.variable)
(lexical_declaration
  kind: "const"
  (variable_declarator
    name: [
      (object_pattern [
        (shorthand_property_identifier_pattern) @name @definition.constant
        (pair_pattern value: [
          (identifier) @name @definition.constant
          (assignment_pattern left: (identifier) @name @definition.constant)
        ])
        (object_assignment_pattern left: (shorthand_property_identifier_pattern) @name @definition.constant)
        (rest_pattern (identifier) @name @definition.constant)
      ])
      (array_pattern [
        (identifier) @name @definition.constant
        (assignment_pattern left: (identifier) @name @definition.constant)
        (rest_pattern (identifier) @name @definition.constant)
      ])
      ; Names in nested patterns. Parameters in default values are nested deeper, and do not match.
      (_ (_ (_ (shorthand_property_identifier_pattern) @name @definition.constant)))
      (_ (_ (_ (_ (shorthand_property_identifier_pattern) @name @definition.constant))))
      (_ (object_pattern (shorthand_property_identifier_pattern) @name @definition.constant))
      (_ (_ (pair_pattern value: (identifier) @name @definition.constant)))
      (_ (_ (_ (pair_pattern value: (identifier) @name @definition.constant))))
      (_ (array_pattern (identifier) @name @definition.constant))
      (_ (_ (array_pattern (identifier) @name @definition.constant)))
    ]
    value: (_) @_value
    (#not-match? @_value "^(await )?(require|import)\\b"))) @signature
(lexical_declaration
  kind: "let"
  (variable_declarator name: [
    (object_pattern [
      (shorthand_property_identifier_pattern) @name @definition.variable
      (pair_pattern value: [
        (identifier) @name @definition.variable
        (assignment_pattern left: (identifier) @name @definition.variable)
      ])
      (object_assignment_pattern left: (shorthand_property_identifier_pattern) @name @definition.variable)
      (rest_pattern (identifier) @name @definition.variable)
    ])
    (array_pattern [
      (identifier) @name @definition.variable
      (assignment_pattern left: (identifier) @name @definition.variable)
      (rest_pattern (identifier) @name @definition.variable)
    ])
    ; Names in nested patterns. Parameters in default values are nested deeper, and do not match.
    (_ (_ (_ (shorthand_property_identifier_pattern) @name @definition.variable)))
    (_ (_ (_ (_ (shorthand_property_identifier_pattern) @name @definition.variable))))
    (_ (object_pattern (shorthand_property_identifier_pattern) @name @definition.variable))
    (_ (_ (pair_pattern value: (identifier) @name @definition.variable)))
    (_ (_ (_ (pair_pattern value: (identifier) @name @definition.variable))))
    (_ (array_pattern (identifier) @name @definition.variable))
    (_ (_ (array_pattern (identifier) @name @definition.variable)))
  ])) @signature
(variable_declaration
  (variable_declarator
    name: [
      (object_pattern [
        (shorthand_property_identifier_pattern) @name @definition.variable
        (pair_pattern value: [
          (identifier) @name @definition.variable
          (assignment_pattern left: (identifier) @name @definition.variable)
        ])
        (object_assignment_pattern left: (shorthand_property_identifier_pattern) @name @definition.variable)
        (rest_pattern (identifier) @name @definition.variable)
      ])
      (array_pattern [
        (identifier) @name @definition.variable
        (assignment_pattern left: (identifier) @name @definition.variable)
        (rest_pattern (identifier) @name @definition.variable)
      ])
      ; Names in nested patterns. Parameters in default values are nested deeper, and do not match.
      (_ (_ (_ (shorthand_property_identifier_pattern) @name @definition.variable)))
      (_ (_ (_ (_ (shorthand_property_identifier_pattern) @name @definition.variable))))
      (_ (object_pattern (shorthand_property_identifier_pattern) @name @definition.variable))
      (_ (_ (pair_pattern value: (identifier) @name @definition.variable)))
      (_ (_ (_ (pair_pattern value: (identifier) @name @definition.variable))))
      (_ (array_pattern (identifier) @name @definition.variable))
      (_ (_ (array_pattern (identifier) @name @definition.variable)))
    ]
    value: (_) @_value
    (#not-match? @_value "^(await )?(require|import)\\b"))) @signature
(variable_declaration
  (variable_declarator name: (identifier) @name value: (_) @_value) @definition.variable
  (#not-match? @_value "^(await )?(require|import)\\b"))
(variable_declaration (variable_declarator name: (identifier) @name !value) @definition.variable)

; Imports. A default import bears its local name; a namespace is everything under an alias.
(import_statement
  (import_clause (named_imports (import_specifier name: (_) @import.name !alias)))
  source: (string) @import.module)
(import_statement
  (import_clause (named_imports (import_specifier name: (_) @import.name alias: (_) @import.alias)))
  source: (string) @import.module)
(import_statement (import_clause (identifier) @import.name) source: (string) @import.module)
(import_statement
  (import_clause (namespace_import (identifier) @import.alias) @import.wildcard)
  source: (string) @import.module)
(import_statement source: (string) @import.module)
(export_statement
  (export_clause (export_specifier name: (_) @import.name !alias))
  source: (string) @import.module)
(export_statement
  (export_clause (export_specifier name: (_) @import.name alias: (_) @import.alias))
  source: (string) @import.module)
(export_statement "*" @import.wildcard source: (string) @import.module)
(export_statement source: (string) @import.module)
(variable_declarator
  name: (identifier) @import.alias
  value: (call_expression
    function: (identifier) @_require
    arguments: (arguments . (string) @import.module))
  (#eq? @_require "require"))
(variable_declarator
  name: (identifier) @import.alias
  value: (await_expression (call_expression
    function: (import)
    arguments: (arguments . (string) @import.module)) @import.wildcard))
(variable_declarator
  name: (object_pattern [
    (shorthand_property_identifier_pattern) @import.name
    (object_assignment_pattern left: (shorthand_property_identifier_pattern) @import.name)
    (pair_pattern key: (property_identifier) @import.name value: [
      (identifier) @import.alias
      (assignment_pattern left: (identifier) @import.alias)
    ])
  ])
  value: [
    (call_expression function: (identifier) @_require arguments: (arguments . (string) @import.module))
    (await_expression
      (call_expression function: (import) @_require arguments: (arguments . (string) @import.module)))
  ]
  (#match? @_require "^(require|import)$"))
(call_expression
  function: (member_expression
    object: (call_expression function: (import) arguments: (arguments . (string) @import.module))
    property: (property_identifier) @_then)
  arguments: (arguments . (arrow_function parameter: (identifier) @import.alias) @import.wildcard)
  (#eq? @_then "then"))
(call_expression
  function: [(identifier) (import)] @_require
  arguments: (arguments . (string) @import.module)
  (#match? @_require "^(require|import)$"))

; References.
(call_expression function: (identifier) @name (#not-eq? @name "require")) @reference.call
(call_expression
  function: (member_expression property: [(property_identifier) (private_property_identifier)] @name)) @reference.call
(new_expression constructor: (identifier) @name) @reference.call
(new_expression constructor: (member_expression property: (property_identifier) @name)) @reference.call
(decorator (identifier) @name) @reference.call

; Names passed around as values.
(arguments (identifier) @name) @reference.use
(pair value: (identifier) @name) @reference.use
(object (shorthand_property_identifier) @name) @reference.use
(array (identifier) @name) @reference.use
(variable_declarator value: (identifier) @name) @reference.use
(assignment_expression right: (identifier) @name) @reference.use
(export_specifier name: (identifier) @name) @reference.use
(export_statement value: (identifier) @name) @reference.use
(member_expression property: [(property_identifier) (private_property_identifier)] @name) @reference.use
((identifier) @name (#match? @name "^_*[A-Z]")) @reference.use
