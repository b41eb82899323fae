; Enumerators after a directive, which the grammars of C and C++ do not read. That of Objective-C has no such nodes.
(enumerator_list (preproc_call) . (comment)? . (ERROR . (identifier) @name @definition.variant))
