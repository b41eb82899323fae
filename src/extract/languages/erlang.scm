(module_attribute name: (atom) @name) @definition.module

; A function's clauses are one symbol, and so are a specification and what follows it. Another arity is another function.
(spec fun: (atom) @name sigs: (type_sig args: (_) @arity)) @definition.function @clause
(fun_decl clause: (function_clause name: (atom) @name args: (_) @arity)) @definition.function @clause
(callback fun: (atom) @name) @definition.function

; Records, types, macros.
(record_decl name: (atom) @name) @definition.record
(record_decl fields: (record_field name: (atom) @name) @definition.field)
(type_alias name: (type_name name: (atom) @name)) @definition.type
(opaque name: (type_name name: (atom) @name)) @definition.type
(nominal name: (type_name name: (atom) @name)) @definition.type
(pp_define lhs: (macro_lhs name: [(atom) (var)] @name !args)) @definition.constant
(pp_define lhs: (macro_lhs name: [(atom) (var)] @name)) @definition.macro

; Imports.
(pp_include file: (string) @import.module)
(pp_include_lib file: (string) @import.module)
(import_attribute module: (atom) @import.module funs: (fa fun: (atom) @import.name))
(import_attribute module: (atom) @import.module)
(behaviour_attribute name: (atom) @import.module)

; References.
(call expr: (atom) @name) @reference.call
(internal_fun fun: (atom) @name) @reference.call
(external_fun fun: (atom) @name) @reference.call
(record_name name: (atom) @name) @reference.type
(macro_call_expr name: [(atom) (var)] @name) @reference.use
(export_attribute funs: (fa fun: (atom) @name)) @reference.use
(export_type_attribute types: (fa fun: (atom) @name)) @reference.type
(remote_module module: (atom) @name) @reference.use
(module name: (atom) @name) @reference.use
