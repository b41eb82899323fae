#!/usr/bin/env bash
# The tags query that the TypeScript grammar ships finds no class, function or method of TypeScript.
#
# Guess: `TAGS_QUERY` of a grammar finds the definitions of its language.
# What happens: it has only what TypeScript adds: interfaces, signatures, modules, abstract classes. A class with a method and a
# function give nothing, without any error. The query of the JavaScript grammar, run on the tree of TypeScript, finds those and
# not the interface; only both together are a list.
# Tool: tree-sitter-typescript 0.23.2 and tree-sitter-javascript 0.25.0 with tree-sitter 0.26.1 (PyPI).
# Seen on 2026-11-27:
#   typescript: interface Shop, method open
#   javascript: class Cart, function pay, method total
# In ixmcp: no tags query of a grammar is used. Each language has patterns of its own, and TypeScript includes those that it
# shares with JavaScript (src/extract/languages/table.rs, ecmascript.scm).
set -euo pipefail
self=$(realpath "$0") work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

python3 -m venv venv &&
    venv/bin/pip install -q --disable-pip-version-check --no-deps tree-sitter==0.26.1 tree-sitter-typescript==0.23.2 tree-sitter-javascript==0.25.0 ||
    { echo 'the packages cannot be installed'; exit 2; }
cat >probe.py <<'PY'
import tree_sitter_javascript
import tree_sitter_typescript
from tree_sitter import Language, Parser, Query, QueryCursor

CODE = b"""class Cart { total() { return 1 } }
function pay(cart: Cart) { return cart }
interface Shop { open(): void }
"""
language = Language(tree_sitter_typescript.language_typescript())
root = Parser(language).parse(CODE).root_node
assert not root.has_error
for name, query in [("typescript", tree_sitter_typescript.TAGS_QUERY), ("javascript", tree_sitter_javascript.TAGS_QUERY)]:
    found = []
    for _, captures in QueryCursor(Query(language, query)).matches(root):
        for kind in captures:
            if kind.startswith("definition."):
                found.append(f"{kind.removeprefix('definition.')} {captures['name'][0].text.decode()}")
    print(f"{name}: " + ", ".join(sorted(found)))
PY
venv/bin/python probe.py | tee seen
sed -n 's/^#   //p' "$self" | diff - seen && echo 'as recorded'
