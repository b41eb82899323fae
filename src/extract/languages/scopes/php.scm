; Variables of PHP have names of their own.
(variable_name) @declared
(property_element name: (variable_name (name) @free))
(property_promotion_parameter name: (variable_name (name) @free))
(scoped_property_access_expression name: (variable_name (name) @free))
(argument name: (name) @key)
(method_declaration name: (name) @declared)
