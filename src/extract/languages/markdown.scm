; Headings. Both forms carry their level: the grammar nests sections by one form alone.
(atx_heading (atx_h1_marker) @level.1 heading_content: (_) @name) @definition.heading
(atx_heading (atx_h2_marker) @level.2 heading_content: (_) @name) @definition.heading
(atx_heading (atx_h3_marker) @level.3 heading_content: (_) @name) @definition.heading
(atx_heading (atx_h4_marker) @level.4 heading_content: (_) @name) @definition.heading
(atx_heading (atx_h5_marker) @level.5 heading_content: (_) @name) @definition.heading
(atx_heading (atx_h6_marker) @level.6 heading_content: (_) @name) @definition.heading
(setext_heading heading_content: (_) @name (setext_h1_underline) @level.1) @definition.heading
(setext_heading heading_content: (_) @name (setext_h2_underline) @level.2) @definition.heading
