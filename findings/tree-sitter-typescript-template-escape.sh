#!/usr/bin/env bash
# The grammar of TypeScript takes an escape in the type of a template for a syntax error.
#
# Guess: the type of a template may have the escapes that its value may have.
# What happens: the compiler accepts both; in the tree, each type with an escape has an error, and the values have none.
# Tools: typescript 5.9.3 (npm); tree-sitter 0.25.2 and tree-sitter-typescript 0.23.2 (PyPI).
# Seen on 2026-11-29:
#   typescript: 0 errors
#   value of \`: 0 errors
#   type of \`: errors
#   value of \u0041: 0 errors
#   type of \u0041: errors
# In ixmcp: texts that do not parse are read again without the escapes (src/extract/languages/gaps.rs).
set -euo pipefail
self=$(realpath "$0") work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

{ python3 -m venv venv && venv/bin/pip install -q --disable-pip-version-check tree-sitter==0.25.2 tree-sitter-typescript==0.23.2 &&
    npm install --silent --no-audit --no-fund typescript@5.9.3; } || { echo 'the packages cannot be installed'; exit 2; }
cat >compile.js <<'JAVASCRIPT'
const ts = require("typescript");
const text = "const a = `\\`${1}`;\ntype A = `\\`${1}`;\nconst b = `\\u0041${1}`;\ntype B = `\\u0041${1}`;\n";
console.log(`typescript: ${ts.createSourceFile("a.ts", text, ts.ScriptTarget.Latest).parseDiagnostics.length} errors`);
JAVASCRIPT
cat >parse.py <<'PYTHON'
import tree_sitter
import tree_sitter_typescript

parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_typescript.language_typescript()))
for escape in ["\\`", "\\u0041"]:
    for kind, start in [("value", "const a"), ("type", "type A")]:
        root = parser.parse(f"{start} = `{escape}${{1}}`;\n".encode()).root_node
        print(f"{kind} of {escape}: {'errors' if root.has_error else '0 errors'}")
PYTHON
{ node compile.js && venv/bin/python parse.py; } | tee "$work/seen"
sed -n 's/^#   //p' "$self" | diff - "$work/seen" && echo 'as recorded'
