#!/usr/bin/env bash
# The Kotlin grammar of tree-sitter reads some annotated types as expressions, and reports no error.
#
# Guess: where a grammar does not know a piece of valid code, its tree has an ERROR or MISSING node, so that `has_error` says
# which files need a second look.
# What happens: with `enum`, `data` or `annotation` between the annotation and `class` or `object`, and only the name behind
# them, the annotation is put on an infix call: `enum class Mode` is the value `enum`, the function `class` and the value `Mode`.
# `has_error` is false, and the tree has no declaration. Without that word, or with `sealed`, it is a class.
# Tool: tree-sitter-kotlin 1.1.0 (PyPI; on crates.io it is tree-sitter-kotlin-ng) with tree-sitter 0.26.1.
# Seen on 2026-11-27:
#   @Tag class Plain: class_declaration, has_error=False
#   @Tag sealed class Open: class_declaration, has_error=False
#   @Tag enum class Mode: infix_expression, has_error=False
#   @Tag data object Idle: infix_expression, has_error=False
#   @Tag annotation class Marker: infix_expression, has_error=False
# In ixmcp: a pattern finds infix calls of `class`, `object` and `interface` and marks them as misread
# (src/extract/languages/kotlin.scm). They are parsed again even if the tree has no error (src/extract/recover.rs).
set -euo pipefail
self=$(realpath "$0") work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

python3 -m venv venv &&
    venv/bin/pip install -q --disable-pip-version-check --no-deps tree-sitter==0.26.1 tree-sitter-kotlin==1.1.0 ||
    { echo 'the packages cannot be installed'; exit 2; }
cat >probe.py <<'PY'
import tree_sitter_kotlin
from tree_sitter import Language, Parser

parser = Parser(Language(tree_sitter_kotlin.language()))
for code in ["class Plain", "sealed class Open", "enum class Mode", "data object Idle", "annotation class Marker"]:
    root = parser.parse(f"@Tag {code}\n".encode()).root_node
    node = root.named_child(0)
    if node.type == "annotated_expression":
        node = node.named_child(1)
    print(f"@Tag {code}: {node.type}, has_error={root.has_error}")
PY
venv/bin/python probe.py | tee seen
sed -n 's/^#   //p' "$self" | diff - seen && echo 'as recorded'
