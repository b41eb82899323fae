; What C++ has beyond C; the patterns of c.scm follow.

; Members that are defined outside their class: the qualification is the container.
(function_definition declarator: [
  (function_declarator declarator: (qualified_identifier
    scope: [(namespace_identifier) @container (template_type name: (_) @container)]
    name: [(identifier) (destructor_name) (operator_name)] @name))
  (_ (function_declarator declarator: (qualified_identifier
    scope: [(namespace_identifier) @container (template_type name: (_) @container)]
    name: [(identifier) (operator_name)] @name)))
]) @definition.method
(function_definition declarator: [
  (function_declarator declarator: (qualified_identifier
    scope: [(namespace_identifier) @container (template_type name: (_) @container)]
    name: (qualified_identifier
      scope: [(namespace_identifier) @container (template_type name: (_) @container)]
      name: [(identifier) (destructor_name) (operator_name)] @name)))
  (_ (function_declarator declarator: (qualified_identifier
    scope: [(namespace_identifier) @container (template_type name: (_) @container)]
    name: (qualified_identifier
      scope: [(namespace_identifier) @container (template_type name: (_) @container)]
      name: [(identifier) (operator_name)] @name))))
]) @definition.method
(function_definition declarator: (function_declarator declarator: (qualified_identifier
  scope: [(namespace_identifier) @container (template_type name: (_) @container)]
  name: (qualified_identifier
    scope: [(namespace_identifier) @container (template_type name: (_) @container)]
    name: (qualified_identifier
      scope: [(namespace_identifier) @container (template_type name: (_) @container)]
      name: [(identifier) (destructor_name) (operator_name)] @name))))) @definition.method
; Functions have parameters, variables have none.
((declaration declarator: [
  (qualified_identifier
    scope: [(namespace_identifier) @container (template_type name: (_) @container)]
    name: [
      (identifier) @name
      (qualified_identifier
        scope: [(namespace_identifier) @container (template_type name: (_) @container)]
        name: [
          (identifier) @name
          (qualified_identifier
            scope: [(namespace_identifier) @container (template_type name: (_) @container)]
            name: (identifier) @name)
        ])
    ])
  (_ !parameters declarator: (qualified_identifier
    scope: [(namespace_identifier) @container (template_type name: (_) @container)]
    name: [
      (identifier) @name
      (qualified_identifier
        scope: [(namespace_identifier) @container (template_type name: (_) @container)]
        name: [
          (identifier) @name
          (qualified_identifier
            scope: [(namespace_identifier) @container (template_type name: (_) @container)]
            name: (identifier) @name)
        ])
    ]))
  (init_declarator declarator: [
    (_ !parameters declarator: (qualified_identifier
      scope: [(namespace_identifier) @container (template_type name: (_) @container)]
      name: [
        (identifier) @name
        (qualified_identifier
          scope: [(namespace_identifier) @container (template_type name: (_) @container)]
          name: [
            (identifier) @name
            (qualified_identifier
              scope: [(namespace_identifier) @container (template_type name: (_) @container)]
              name: (identifier) @name)
          ])
      ]))
    (reference_declarator (qualified_identifier
      scope: [(namespace_identifier) @container (template_type name: (_) @container)]
      name: [
        (identifier) @name
        (qualified_identifier
          scope: [(namespace_identifier) @container (template_type name: (_) @container)]
          name: [
            (identifier) @name
            (qualified_identifier
              scope: [(namespace_identifier) @container (template_type name: (_) @container)]
              name: (identifier) @name)
          ])
      ]))
  ])
]) @definition.field
  (#match? @definition.field ";$"))

; References and pointers to members, at the top of a file or in a namespace.
((declaration declarator: [
  (reference_declarator (identifier) @name)
  (qualified_identifier name: (pointer_type_declarator declarator: (type_identifier) @name))
  (_ declarator: [
    (reference_declarator (identifier) @name)
    (qualified_identifier name: (pointer_type_declarator declarator: (type_identifier) @name))
    (parenthesized_declarator [
      (reference_declarator (identifier) @name)
      (qualified_identifier name: (pointer_type_declarator declarator: (type_identifier) @name))
    ])
    (_ declarator: (parenthesized_declarator [
      (reference_declarator (identifier) @name)
      (qualified_identifier name: (pointer_type_declarator declarator: (type_identifier) @name))
    ]))
  ])
]) @definition.variable
  (#match? @definition.variable ";$"))

; Specializations of a function.
(function_definition declarator: [
  (function_declarator declarator: (template_function name: (identifier) @name))
  (_ (function_declarator declarator: (template_function name: (identifier) @name)))
]) @definition.function
(template_declaration (declaration declarator: [
  (function_declarator declarator: (template_function name: (identifier) @name))
  (_ (function_declarator declarator: (template_function name: (identifier) @name)))
]) @definition.function)
(function_definition declarator: (function_declarator declarator: (qualified_identifier
  scope: [(namespace_identifier) @container (template_type name: (_) @container)]
  name: (template_function name: (identifier) @name)))) @definition.method

; Bodies whose variables are their own.
(function_definition declarator: [(reference_declarator) (operator_cast)] body: (_) @local)
(lambda_expression body: (_) @local)

; A macro between `class` and its name makes the grammar see a function.
(function_definition
  type: (class_specifier !body)
  declarator: [(identifier) (field_identifier)] @name
  body: (_)) @definition.class @misread
(function_definition
  type: (struct_specifier !body)
  declarator: [(identifier) (field_identifier)] @name
  body: (_)) @definition.struct @misread
(function_definition type: (class_specifier !body) declarator: (identifier) . (ERROR (identifier) @inherits .))

; Functions and members.
(function_definition declarator: [
  (function_declarator declarator: [(field_identifier) (destructor_name) (operator_name)] @name)
  (reference_declarator (function_declarator
    declarator: [(identifier) (field_identifier) (operator_name)] @name))
  (pointer_declarator declarator: [
    (function_declarator declarator: [(field_identifier) (operator_name)] @name)
    (pointer_declarator declarator: (function_declarator declarator: (field_identifier) @name))
  ])
]) @definition.function
(declaration declarator: (operator_cast type: (_) @name)) @definition.operator
(function_definition declarator: [
  (operator_cast type: (_) @name)
  (qualified_identifier
    scope: [(namespace_identifier) @container (template_type name: (_) @container)]
    name: [
      (operator_cast type: (_) @name)
      (qualified_identifier
        scope: [(namespace_identifier) @container (template_type name: (_) @container)]
        name: [
          (operator_cast type: (_) @name)
          (qualified_identifier
            scope: [(namespace_identifier) @container (template_type name: (_) @container)]
            name: (operator_cast type: (_) @name))
        ])
    ])
]) @definition.operator
; After `inline` the grammar takes the class and `operator` for the type of a function.
((function_definition
  type: (qualified_identifier
    scope: [(namespace_identifier) @container (template_type name: (_) @container)]
    name: [
      (type_identifier) @_operator
      (qualified_identifier
        scope: [(namespace_identifier) @container (template_type name: (_) @container)]
        name: (type_identifier) @_operator)
    ])
  declarator: (function_declarator declarator: (identifier) @name)) @definition.operator
  (#eq? @_operator "operator"))
; A macro before the name of a class that is only declared.
((declaration type: (class_specifier name: (type_identifier) @_macro !body) declarator: (identifier) @name) @scope
  (#match? @_macro "^[A-Z][A-Z0-9_]*$"))
((declaration type: (struct_specifier name: (type_identifier) @_macro !body) declarator: (identifier) @name) @scope
  (#match? @_macro "^[A-Z][A-Z0-9_]*$"))
(field_declaration declarator: [
  (function_declarator declarator: [(field_identifier) (operator_name)] @name)
  (reference_declarator (function_declarator declarator: [(field_identifier) (operator_name)] @name))
  (pointer_declarator declarator: [
    (function_declarator declarator: [(field_identifier) (operator_name)] @name)
    (pointer_declarator declarator: (function_declarator declarator: (field_identifier) @name))
  ])
]) @definition.function
(field_declaration declarator: [
  (reference_declarator (field_identifier) @name)
  (_ declarator: (parenthesized_declarator (reference_declarator (field_identifier) @name)))
]) @definition.field
; A macro before an access specifier: `Q_OBJECT public:`.
((field_declaration declarator: (field_identifier) @name) @scope @misread
  (#match? @name "^(public|protected|private)$"))
(declaration declarator: [
  (function_declarator declarator: [(destructor_name) (operator_name)] @name)
  (pointer_declarator declarator: (function_declarator declarator: (operator_name) @name))
  (reference_declarator (function_declarator declarator: [(identifier) (operator_name)] @name))
]) @definition.function

; Types and namespaces.
(class_specifier name: (type_identifier) @name body: (_)) @definition.class
(class_specifier name: (template_type name: (type_identifier) @name) body: (_)) @definition.class
(struct_specifier name: (template_type name: (type_identifier) @name) body: (_)) @definition.struct
(class_specifier
  name: (qualified_identifier
    scope: [(namespace_identifier) @container (template_type name: (_) @container)]
    name: (type_identifier) @name)
  body: (_)) @definition.class
(struct_specifier
  name: (qualified_identifier
    scope: [(namespace_identifier) @container (template_type name: (_) @container)]
    name: (type_identifier) @name)
  body: (_)) @definition.struct
((namespace_definition name: (nested_namespace_specifier (namespace_identifier) @container [
  (namespace_identifier) @name
  (nested_namespace_specifier (namespace_identifier) @container [
    (namespace_identifier) @name
    (nested_namespace_specifier (namespace_identifier) @container (namespace_identifier) @name)
  ])
]) @_path) @definition.namespace
  (#match? @_path "\\binline\\b"))
((namespace_definition name: (_) @name) @definition.namespace (#not-match? @name "\\binline\\b"))
(namespace_alias_definition name: (_) @name) @definition.namespace
(alias_declaration name: (type_identifier) @name) @definition.type
(concept_definition name: (identifier) @name) @definition.type

(declaration declarator: (init_declarator declarator: [
  (structured_binding_declarator (identifier) @name @definition.variable)
  (reference_declarator (structured_binding_declarator (identifier) @name @definition.variable))
])) @signature

; A function with a function among its parameters: the grammar sees a variable with its value. None is void.
(declaration
  type: (primitive_type) @_type
  declarator: (init_declarator declarator: (identifier) @name value: (argument_list))
  (#eq? @_type "void")) @definition.function

; Constants.
(declaration
  (type_qualifier) @_const
  declarator: (init_declarator declarator: [
    (identifier) @name
    (array_declarator declarator: (identifier) @name)
    (template_function name: (identifier) @name)
  ])
  (#match? @_const "^const(expr)?$")) @definition.constant
(template_declaration (declaration declarator: [
  (template_function name: (identifier) @name)
  (init_declarator declarator: (template_function name: (identifier) @name))
]) @definition.variable)

; Inheritance.
(base_class_clause [
  (type_identifier) @inherits
  (template_type name: (type_identifier) @inherits)
  (qualified_identifier name: (type_identifier) @inherits)
  (qualified_identifier name: (template_type name: (type_identifier) @inherits))
  (qualified_identifier name: (qualified_identifier name: (type_identifier) @inherits))
  (qualified_identifier name: (qualified_identifier name: (template_type name: (type_identifier) @inherits)))
])

; Imports.
(using_declaration (qualified_identifier scope: (_) @import.module name: (identifier) @import.name))
(using_declaration "namespace" @import.wildcard [(identifier) (qualified_identifier)] @import.module)

; References.
(call_expression function: (qualified_identifier name: (identifier) @name)) @reference.call
(call_expression
  function: (qualified_identifier name: (qualified_identifier name: (identifier) @name))) @reference.call
(call_expression
  function: (qualified_identifier
    name: (qualified_identifier name: (qualified_identifier name: (identifier) @name)))) @reference.call
(call_expression function: (template_function name: (identifier) @name)) @reference.call
(call_expression
  function: (qualified_identifier name: (template_function name: (identifier) @name))) @reference.call
(call_expression
  function: (field_expression field: (template_method name: (field_identifier) @name))) @reference.call
(new_expression type: [
  (type_identifier) @name
  (template_type name: (type_identifier) @name)
  (qualified_identifier name: (type_identifier) @name)
  (qualified_identifier name: (template_type name: (type_identifier) @name))
]) @reference.call
(field_initializer (field_identifier) @name) @reference.use
(qualified_identifier name: (identifier) @name) @reference.use

; Parameters and local variables: their uses are no references.
(parameter_declaration declarator: (reference_declarator (identifier) @binding))
(optional_parameter_declaration declarator: (identifier) @binding)
(for_range_loop declarator: (identifier) @binding)
(for_range_loop declarator: (reference_declarator (identifier) @binding))
