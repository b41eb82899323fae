#!/usr/bin/env bash
# One statement that the C# grammar of tree-sitter does not know costs the method around it and its neighbors.
#
# Guess: an unknown expression makes an ERROR node in its own statement. The method that contains it, and all other members of
# the class, stay declarations.
# What happens: `mast?.Height = 1;` (C# 14) turns the method into a field, and the methods behind it become local functions.
# Tool: tree-sitter-c-sharp 0.23.5 with tree-sitter 0.26.1 (PyPI).
# Seen on 2026-11-27:
#   mast.Height = 1
#     class_declaration Sails
#     method_declaration Trim
#     method_declaration Furl
#     method_declaration Area
#   mast?.Height = 1
#     class_declaration Sails
#     field_declaration
#     local_function_statement Furl
#     local_function_statement Area
# In ixmcp: such syntax is blanked and the text parsed again (src/extract/languages/gaps.rs), and definitions that lines show
# and the tree lacks are read again one by one (src/extract/recover.rs).
set -euo pipefail
self=$(realpath "$0") work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

python3 -m venv venv &&
    venv/bin/pip install -q --disable-pip-version-check --no-deps tree-sitter==0.26.1 tree-sitter-c-sharp==0.23.5 ||
    { echo 'the packages cannot be installed'; exit 2; }
cat >probe.py <<'PY'
import tree_sitter_c_sharp
from tree_sitter import Language, Parser

SHOWN = {"class_declaration", "method_declaration", "field_declaration", "local_function_statement"}
CODE = "class Sails\n{\n    void Trim()\n    {\n        %s;\n    }\n\n    void Furl() { }\n\n    int Area() => 3;\n}\n"


def show(node):
    if node.type in SHOWN:
        name = node.child_by_field_name("name")
        print(f"  {node.type}", *([name.text.decode()] if name else []))
    for child in node.children:
        show(child)


parser = Parser(Language(tree_sitter_c_sharp.language()))
for statement in ["mast.Height = 1", "mast?.Height = 1"]:
    print(statement)
    show(parser.parse((CODE % statement).encode()).root_node)
PY
venv/bin/python probe.py | tee seen
sed -n 's/^#   //p' "$self" | diff - seen && echo 'as recorded'
