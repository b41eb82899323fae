; Attributes are parameters of the component.
(jsx_attribute (property_identifier) @key)
