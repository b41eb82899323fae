; Keys of the first two levels, in block and in flow form: deeper ones are data.
(document (block_node (block_mapping (block_mapping_pair key: (flow_node) @name) @definition.key)))
(document (block_node (block_mapping (block_mapping_pair
  value: (block_node (block_mapping (block_mapping_pair key: (flow_node) @name) @definition.key))))))
(document (block_node (block_mapping (block_mapping_pair
  value: (flow_node (flow_mapping (flow_pair key: (flow_node) @name) @definition.key))))))
(document (flow_node (flow_mapping (flow_pair key: (flow_node) @name) @definition.key)))
(document (flow_node (flow_mapping (flow_pair
  value: (flow_node (flow_mapping (flow_pair key: (flow_node) @name) @definition.key))))))

; Anchors and their aliases.
(alias (alias_name) @name) @reference.use
