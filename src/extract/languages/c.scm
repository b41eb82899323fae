; Functions: their definitions, then prototypes. Pointers in a declarator surround the name.
((function_definition declarator: [
  (function_declarator declarator: [
    (identifier) @name
    (parenthesized_declarator (identifier) @name)
    (parenthesized_declarator (pointer_declarator declarator: (function_declarator declarator: (identifier) @name)))
  ])
  (pointer_declarator declarator: [
    (function_declarator declarator: [(identifier) @name (parenthesized_declarator (identifier) @name)])
    (pointer_declarator declarator: [
      (function_declarator declarator: (identifier) @name)
      (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))
    ])
  ])
])
  @definition.function
  (#not-match? @name "^(if|while|for|switch|return|sizeof)$"))
((declaration declarator: [
  (function_declarator declarator: [
    (identifier) @name
    (parenthesized_declarator (identifier) @name)
    (parenthesized_declarator (pointer_declarator declarator: (function_declarator declarator: (identifier) @name)))
  ])
  (pointer_declarator declarator: [
    (function_declarator declarator: [(identifier) @name (parenthesized_declarator (identifier) @name)])
    (pointer_declarator declarator: [
      (function_declarator declarator: (identifier) @name)
      (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))
    ])
  ])
])
  @definition.function
  (#not-match? @name "^(if|while|for|switch|return|sizeof)$"))
((call_expression
  function: (identifier) @_macro
  arguments: (argument_list . (identifier) @name)) @definition.function
  (#match? @_macro "^(COMPAT_)?SYSCALL_DEFINE[0-9]$"))

; Types. The grammar has its own node for names of the standard: `typedef unsigned char uint8_t;`
(type_definition declarator: (primitive_type) @name) @definition.type
(struct_specifier name: (type_identifier) @name body: (_)) @definition.struct
(union_specifier name: (type_identifier) @name body: (_)) @definition.union
(enum_specifier name: (type_identifier) @name body: (_)) @definition.enum
(enumerator name: (identifier) @name) @definition.variant
(type_definition
  type: (struct_specifier !name body: (_) @body)
  declarator: (type_identifier) @name) @definition.struct
(type_definition
  type: (union_specifier !name body: (_) @body)
  declarator: (type_identifier) @name) @definition.union
(type_definition
  type: (enum_specifier !name body: (_) @body)
  declarator: (type_identifier) @name) @definition.enum
(type_definition
  type: [
    (struct_specifier name: (_) body: (_))
    (union_specifier name: (_) body: (_))
    (enum_specifier name: (_) body: (_))
  ]
  declarator: (type_identifier) @name @definition.type) @signature
(type_definition
  type: [(struct_specifier body: (_)) (union_specifier body: (_)) (enum_specifier body: (_))]
  declarator: [
    (pointer_declarator declarator: (type_identifier) @name) @definition.type
    (pointer_declarator declarator: (pointer_declarator declarator: (type_identifier) @name)) @definition.type
    (array_declarator declarator: (type_identifier) @name) @definition.type
  ]) @signature
(type_definition declarator: [
  (type_identifier) @name
  (_ !parameters declarator: [
    (type_identifier) @name
    (_ !parameters declarator: [(type_identifier) @name (_ !parameters declarator: (type_identifier) @name)])
  ])
  (function_declarator declarator: [(type_identifier) @name (parenthesized_declarator (type_identifier) @name)])
  (pointer_declarator declarator: (function_declarator declarator: (type_identifier) @name))
  (_ declarator: [
    (parenthesized_declarator (_ !parameters declarator: [
      (type_identifier) @name
      (_ !parameters declarator: (type_identifier) @name)
    ]))
    (_ declarator: [
      (parenthesized_declarator (_ !parameters declarator: (type_identifier) @name))
      (_ declarator: (parenthesized_declarator (_ !parameters declarator: (type_identifier) @name)))
    ])
  ])
]) @definition.type
((field_declaration declarator: [
  (field_identifier) @name
  (_ !parameters declarator: [
    (field_identifier) @name
    (_ !parameters declarator: [(field_identifier) @name (_ !parameters declarator: (field_identifier) @name)])
  ])
  ; Pointers to functions and to arrays, and arrays of them.
  (_ declarator: [
    (parenthesized_declarator (_ !parameters declarator: [
      (field_identifier) @name
      (_ !parameters declarator: [(field_identifier) @name (_ !parameters declarator: (field_identifier) @name)])
      (_ declarator: (parenthesized_declarator (_ !parameters declarator: (field_identifier) @name)))
    ]))
    (_ declarator: [
      (parenthesized_declarator (_ !parameters declarator: [
        (field_identifier) @name
        (_ !parameters declarator: [(field_identifier) @name (_ !parameters declarator: (field_identifier) @name)])
      ]))
      (_ declarator: (parenthesized_declarator (_ !parameters declarator: (field_identifier) @name)))
    ])
  ])
])
  @definition.field
  (#not-match? @name "^__+[a-z_]*(aligned|packed|layout)"))

; A macro after the body of a type makes the grammar see a function.
((declaration
  type: [(struct_specifier body: (_)) (union_specifier body: (_)) (enum_specifier body: (_))]
  declarator: (function_declarator declarator: (identifier) @name)) @scope @misread
  (#match? @name "^__"))

; C23: an attribute before the name makes the grammar see a function.
(function_definition
  type: (struct_specifier)
  (attribute_declaration)
  declarator: (identifier) @name) @definition.struct @misread

; Macros. One without a value is a guard or a switch, and is looked for just as well.
; Inside of functions they are the file's nevertheless.
((preproc_def name: (identifier) @name value: (_)) @definition.constant @member @misread
  (#match? @definition.constant "^#[ \t]*define[ \t]+\\w+\\s*\n\\s*\\S"))
((preproc_function_def name: (identifier) @name value: (_)) @definition.macro @member @misread
  (#match? @definition.macro "^#[ \t]*define[ \t]+\\w+\\([^()]*\\)\\s*\n\\s*\\S"))
(preproc_def name: (identifier) @name) @definition.constant @member
(preproc_function_def name: (identifier) @name) @definition.macro @member
; A comment in its text ends it for the grammar.
(ERROR (identifier) @name . (preproc_params)) @definition.macro @member
(ERROR (identifier) @name . (preproc_arg)) @definition.constant @member
; A macro before the type makes the grammar see a function of a function.
(declaration declarator: (function_declarator
  declarator: (function_declarator declarator: (identifier) @name))) @scope @misread
; Or a name in the type behind it: `API error open (void) {`.
(function_definition declarator: (function_declarator declarator: (identifier) @name . (ERROR (identifier)))) @scope @misread

; Variables of the file; those of blocks are dropped.
(function_definition
  declarator: [(function_declarator) (pointer_declarator) (parenthesized_declarator)]
  body: (_) @local)
; Parameters of an old-style definition.
(function_definition (declaration) @local)
(translation_unit (compound_statement) @local)
(preproc_ifdef (compound_statement) @local)
(ERROR (compound_statement) @local)
(parameter_list) @local
; A type with a body is a definition of its own: the variable after it is only the declarator.
(declaration
  type: [(struct_specifier body: (_)) (union_specifier body: (_)) (enum_specifier body: (_))]
  declarator: [
    (identifier) @name @definition.variable
    (init_declarator declarator: (identifier) @name) @definition.variable
    (array_declarator declarator: (identifier) @name) @definition.variable
    (init_declarator declarator: (array_declarator declarator: (identifier) @name)) @definition.variable
    (pointer_declarator declarator: (identifier) @name) @definition.variable
    (pointer_declarator declarator: (array_declarator declarator: (identifier) @name)) @definition.variable
    (init_declarator declarator: (pointer_declarator declarator: (identifier) @name)) @definition.variable
  ]
  (#not-match? @name "^__+[a-z_]*(aligned|packed|layout)")) @signature
((declaration declarator: [
  (identifier) @name
  (_ !parameters declarator: [(identifier) @name (_ !parameters declarator: (identifier) @name)])
]) @definition.variable
  (#match? @definition.variable "^((static|extern|const|volatile)[ \t]+)*(_Alignas|_Atomic|_BitInt|__attribute__|__declspec|alignas|decltype|typeof|typeof_unqual)[ \t]*\\("))
; A macro after the name makes the grammar see a type: `static unsigned long tide __read_mostly;`
((declaration
  type: (sized_type_specifier type: (type_identifier) @name)
  declarator: [(identifier) @_macro (init_declarator declarator: (identifier) @_macro)]) @definition.variable
  (#match? @_macro "^__"))
; Macros around a declaration make the grammar see variables in them: without its own semicolon, or after a call.
((declaration declarator: [
  (identifier) @name
  (parenthesized_declarator (identifier) @name)
  (_ !parameters declarator: [
    (identifier) @name
    (_ !parameters declarator: [
      (identifier) @name
      (_ !parameters declarator: [(identifier) @name (_ !parameters declarator: (identifier) @name)])
    ])
  ])
  ; Pointers to functions and to arrays, and arrays of them.
  (_ declarator: [
    (parenthesized_declarator (_ !parameters declarator: [
      (identifier) @name
      (_ !parameters declarator: [(identifier) @name (_ !parameters declarator: (identifier) @name)])
      (_ declarator: (parenthesized_declarator (_ !parameters declarator: (identifier) @name)))
    ]))
    (_ declarator: [
      (parenthesized_declarator (_ !parameters declarator: [
        (identifier) @name
        (_ !parameters declarator: [(identifier) @name (_ !parameters declarator: (identifier) @name)])
      ]))
      (_ declarator: [
        (parenthesized_declarator (_ !parameters declarator: [
          (identifier) @name
          (_ !parameters declarator: (identifier) @name)
        ]))
        (_ declarator: (parenthesized_declarator (_ !parameters declarator: (identifier) @name)))
      ])
    ])
  ])
]) @definition.variable
  (#match? @definition.variable ";$")
  (#not-match? @definition.variable "^[A-Za-z_][A-Za-z0-9_]*[ \t]*\\([^*^]")
  (#not-match? @name "^__+[a-z_]*(init|initdata|initconst|mostly|aligned|packed|layout|check|visible|used|unused|weak)$"))
(declaration (ERROR (array_declarator declarator: (identifier) @name))) @definition.variable
(translation_unit
  (expression_statement (call_expression
    function: (identifier) @name
    arguments: (argument_list . (identifier) @_void .)))
  @definition.function
  (#eq? @_void "void"))
((expression_statement (call_expression
  function: (identifier) @_macro
  arguments: (argument_list . (identifier) @name))) @definition.variable
  (#match? @_macro "^(DEFINE|DECLARE)_[A-Z_]+$|^LIST_HEAD$"))

; Imports.
(preproc_include path: [(string_literal) (system_lib_string)] @import.module)

; References.
(call_expression function: (identifier) @name) @reference.call
(call_expression function: (field_expression field: (field_identifier) @name)) @reference.call
(call_expression function: (parenthesized_expression (identifier) @name)) @reference.call
((type_identifier) @name) @reference.type

; Names passed around as values: callbacks, tables of functions, constants.
(argument_list (identifier) @name) @reference.use
(argument_list (pointer_expression argument: (identifier) @name)) @reference.use
(initializer_pair value: (identifier) @name) @reference.use
(initializer_pair value: (pointer_expression argument: (identifier) @name)) @reference.use
(initializer_pair designator: (field_designator (field_identifier) @name)) @reference.use
(initializer_list (identifier) @name) @reference.use
(initializer_list (pointer_expression argument: (identifier) @name)) @reference.use
(init_declarator value: (identifier) @name) @reference.use
(init_declarator value: (pointer_expression argument: (identifier) @name)) @reference.use
(assignment_expression right: (identifier) @name) @reference.use
(assignment_expression right: (pointer_expression argument: (identifier) @name)) @reference.use
(field_expression field: (field_identifier) @name) @reference.use
(preproc_ifdef name: (identifier) @name) @reference.use
(preproc_defined (identifier) @name) @reference.use
((identifier) @name (#match? @name "^_*[A-Z]")) @reference.use

; Parameters and local variables: their uses are no references.
(parameter_declaration declarator: (identifier) @binding)
(parameter_declaration declarator: (array_declarator declarator: (identifier) @binding))
(parameter_declaration declarator: (pointer_declarator declarator: (identifier) @binding))
(parameter_declaration
  declarator: (pointer_declarator declarator: (pointer_declarator declarator: (identifier) @binding)))
(preproc_params (identifier) @binding)
