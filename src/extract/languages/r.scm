; Functions, by what they are assigned to; a body's variables are its own.
(function_definition body: (_) @local)
(binary_operator
  lhs: [(identifier) @name (string content: (_) @name)]
  operator: ["<-" "=" "<<-"]
  rhs: (function_definition body: (_) @body)) @definition.function
(binary_operator
  lhs: (extract_operator lhs: (identifier) @container rhs: (identifier) @name)
  operator: ["<-" "=" "<<-"]
  rhs: (function_definition body: (_) @body)) @definition.function
(call
  function: (identifier) @_list
  arguments: (arguments
    (argument name: (identifier) @name value: (function_definition body: (_) @body)) @definition.method)
  (#match? @_list "^(list|setRefClass)$"))

; Classes and generics are made by calls.
(binary_operator
  lhs: (identifier) @name
  operator: ["<-" "="]
  rhs: (call function: [(identifier) @_class (namespace_operator rhs: (identifier) @_class)])
  (#match? @_class "^(R6Class|setRefClass|setClass|new_class)$")) @definition.class
(program (call
  function: (identifier) @_class
  arguments: (arguments . (argument value: (string content: (_) @name)))
  (#match? @_class "^(setClass|setRefClass|setClassUnion)$")) @definition.class)
(program (call
  function: (identifier) @_generic
  arguments: (arguments . (argument value: (string content: (_) @name)))
  (#eq? @_generic "setGeneric")) @definition.function)
(program (call
  function: (identifier) @_method
  arguments: (arguments . (argument value: (string content: (_) @name)))
  (#match? @_method "^(setMethod|setReplaceMethod|setValidity)$")) @definition.method)

(call
  function: [(identifier) @_class (namespace_operator rhs: (identifier) @_class)]
  arguments: (arguments (argument
    name: (identifier) @_members
    value: (call
      function: (identifier) @_list
      arguments: (arguments (argument name: (identifier) @name) @definition.field))))
  (#match? @_class "^(R6Class|setRefClass|setClass|new_class)$")
  (#match? @_members "^(public|private|fields|slots|properties)$")
  (#match? @_list "^(list|c)$"))

; Variables of the file.
(program (binary_operator lhs: (identifier) @name operator: ["<-" "=" "<<-"]) @definition.variable)
(program (binary_operator operator: ["->" "->>"] rhs: (identifier) @name) @definition.variable)
(program (binary_operator rhs: (binary_operator lhs: (identifier) @name operator: ["<-" "=" "<<-"]) @definition.variable @member))

; Imports.
(call
  function: (identifier) @_library
  arguments: (arguments . (argument value: [(identifier) (string)] @import.module))
  (#match? @_library "^(library|require|requireNamespace|loadNamespace|source)$"))

; References.
(call function: (identifier) @name) @reference.call
(call function: (namespace_operator rhs: (identifier) @name)) @reference.call
(call function: (extract_operator rhs: (identifier) @name)) @reference.call

; Names passed around as values.
(argument value: (identifier) @name) @reference.use
(extract_operator rhs: (identifier) @name) @reference.use
(namespace_operator rhs: (identifier) @name) @reference.use
((identifier) @name (#match? @name "^[A-Z]")) @reference.use
