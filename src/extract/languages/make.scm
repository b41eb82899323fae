; Targets, without those that only speak to make.
((rule (targets [(word) (concatenation) (variable_reference)] @name)) @definition.target
  (#not-match? @name "^\\.[A-Z_]+$"))

; Variables; an addition to one is a use of it.
((variable_assignment name: (word) @name operator: _ @_operator) @definition.variable
  (#not-eq? @_operator "+="))
(define_directive name: (word) @name) @definition.variable
((variable_assignment name: (word) @name operator: _ @_operator) @reference.use
  (#eq? @_operator "+="))

; Included files.
(include_directive filenames: (list (_) @import.module))

; References.
(prerequisites [(word) (concatenation)] @name) @reference.use
(variable_reference (word) @name) @reference.use
