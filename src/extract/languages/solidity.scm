; Contracts and types.
(contract_declaration name: (identifier) @name body: (_) @body) @definition.class
(interface_declaration name: (identifier) @name body: (_) @body) @definition.interface
(library_declaration name: (identifier) @name body: (_) @body) @definition.class
(struct_declaration name: (identifier) @name body: (_) @body) @definition.struct
(struct_member name: (identifier) @name) @definition.field
(enum_declaration name: (identifier) @name body: (_) @body) @definition.enum
(enum_value) @name @definition.variant
(user_defined_type_definition name: (identifier) @name) @definition.type
(event_definition name: (identifier) @name) @definition.event
(error_declaration name: (identifier) @name) @definition.exception

; Functions.
(function_definition name: (identifier) @name) @definition.function
(modifier_definition name: (identifier) @name) @definition.function
(constructor_definition "constructor" @name) @definition.constructor
(fallback_receive_definition ["receive" "fallback"] @name) @definition.function

; State and constants.
(state_variable_declaration name: (identifier) @name) @definition.field
(constant_variable_declaration name: (identifier) @name) @definition.constant

; Imports.
(import_directive import_name: (identifier) @import.name . alias: (identifier) @import.alias source: (string) @import.module)
(import_directive import_name: (identifier) @import.name source: (string) @import.module)
(import_directive . alias: (identifier) @import.alias source: (string) @import.module)
(import_directive source: (string) @import.module)

; Parameters and local variables.
(parameter name: (identifier) @binding)
(variable_declaration name: (identifier) @binding)

; References.
(inheritance_specifier ancestor: (user_defined_type (identifier) @inherits .))
(call_expression function: (expression (identifier) @name)) @reference.call
(call_expression function: (expression (member_expression property: (identifier) @name))) @reference.call
(new_expression name: (type_name (user_defined_type (identifier) @name .))) @reference.call
(emit_statement name: (expression (identifier) @name)) @reference.call
(revert_statement error: (expression (identifier) @name)) @reference.call
(modifier_invocation . (identifier) @name) @reference.call
(user_defined_type (identifier) @name .) @reference.type
(type_alias (identifier) @name .) @reference.type
(member_expression property: (identifier) @name) @reference.use
(expression (identifier) @name) @reference.use
