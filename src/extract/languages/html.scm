; Elements that can be pointed at.
(element
  [(start_tag (attribute (attribute_name) @_id [
      (quoted_attribute_value (attribute_value) @name)
      (attribute_value) @name
    ]))
   (self_closing_tag (attribute (attribute_name) @_id [
      (quoted_attribute_value (attribute_value) @name)
      (attribute_value) @name
    ]))]
  (#match? @_id "^[iI][dD]$")) @definition.element
(script_element
  (start_tag (attribute (attribute_name) @_id (quoted_attribute_value (attribute_value) @name)))
  (#match? @_id "^[iI][dD]$")) @definition.element

; Headings and the title, by their first words.
(element (start_tag (tag_name) @_tag) . (text) @name (#match? @_tag "^[hH][1-6]$")) @definition.heading
(element (start_tag (tag_name) @_tag) . (text) @name (#match? @_tag "^[tT][iI][tT][lL][eE]$")) @definition.heading

; Scripts and style sheets.
(script_element
  (start_tag (attribute (attribute_name) @_src (quoted_attribute_value (attribute_value) @import.module)))
  (#eq? @_src "src"))
(element
  (start_tag
    (tag_name) @_tag
    (attribute (attribute_name) @_href (quoted_attribute_value (attribute_value) @import.module)))
  (#eq? @_tag "link")
  (#eq? @_href "href"))

; Custom elements are made elsewhere.
((start_tag (tag_name) @name) @reference.use (#match? @name "-"))
((self_closing_tag (tag_name) @name) @reference.use (#match? @name "-"))
