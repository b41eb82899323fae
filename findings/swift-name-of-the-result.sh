#!/usr/bin/env bash
# In the Swift grammar of tree-sitter the field `name` of a function is also on its return type.
#
# Guess: a declaration has one child with the field `name`, its name; `(_ name: (_) @name)` finds what a file declares.
# What happens: the return type has the same field. The pattern captures `Price` for a function that returns one, and
# `child_by_field_name("name")` gives the return type of a subscript, which has no other name.
# Tool: tree-sitter-swift 0.7.4 with tree-sitter 0.26.1 (PyPI).
# Seen on 2026-11-27:
#   function_declaration: first total, all total Price
#   subscript_declaration: first Price, all Price
# In ixmcp: each pattern states the kind of node that is a name, and a subscript is named by its keyword
# (src/extract/languages/swift.scm). No pattern captures a node by that field alone.
set -euo pipefail
self=$(realpath "$0") work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

python3 -m venv venv &&
    venv/bin/pip install -q --disable-pip-version-check --no-deps tree-sitter==0.26.1 tree-sitter-swift==0.7.4 ||
    { echo 'the packages cannot be installed'; exit 2; }
cat >probe.py <<'PY'
import tree_sitter_swift
from tree_sitter import Language, Parser, Query, QueryCursor

CODE = b"struct Cart {\n  func total() -> Price { Price() }\n  subscript(i: Int) -> Price { Price() }\n}\n"
language = Language(tree_sitter_swift.language())
root = Parser(language).parse(CODE).root_node
assert not root.has_error
query = Query(language, "(function_declaration) @declaration (subscript_declaration) @declaration")
for node in QueryCursor(query).captures(root)["declaration"]:
    first = node.child_by_field_name("name").text.decode()
    every = [child.text.decode() for child in node.children_by_field_name("name")]
    print(f"{node.type}: first {first}, all", *every)
PY
venv/bin/python probe.py | tee seen
sed -n 's/^#   //p' "$self" | diff - seen && echo 'as recorded'
