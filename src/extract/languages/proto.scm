; Definitions.
(package (full_ident) @name) @definition.package
(message (message_name (identifier) @name) (message_body) @body) @definition.message
(group (message_name (identifier) @name) (message_body) @body) @definition.message
(enum (enum_name (identifier) @name) (enum_body) @body) @definition.enum
(enum_field . (identifier) @name) @definition.variant
(field (type) . (identifier) @name) @definition.field
(map_field (type) . (identifier) @name) @definition.field
(oneof . (identifier) @name) @definition.field
(oneof_field (type) . (identifier) @name) @definition.field
(service (service_name (identifier) @name) "{" @body) @definition.service
(rpc (rpc_name (identifier) @name)) @definition.method

; Imports.
(import path: (string) @import.module)

; References.
(message_or_enum_type (identifier) @name .) @reference.type
(extend (full_ident) @name) @reference.use
