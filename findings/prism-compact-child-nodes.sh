#!/usr/bin/env bash
# Prism for JavaScript has children of a node that one of its two lists of children leaves out.
#
# Guess: `compactChildNodes` returns what `childNodes` returns, without the children that are absent.
# What happens: it also leaves out the lists of nodes that have other children, too: the targets of an assignment of several names, the
# branches of `case`. A walk over the tree never visits them.
# Tool: @ruby/prism 1.9.0 (npm).
# Seen on 2026-11-29:
#   MultiWriteNode: childNodes 3, compactChildNodes 1
#   CaseNode: childNodes 2, compactChildNodes 1
#   ArrayNode: childNodes 2, compactChildNodes 2
# In ixmcp: `tests/authorities/ruby.mjs`, which prints the definitions that Prism reads, walks over `childNodes`.
set -euo pipefail
self=$(realpath "$0") work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

npm install --silent --no-audit --no-fund @ruby/prism@1.9.0 || { echo 'the package cannot be installed'; exit 2; }
cat >show.mjs <<'JS'
import { loadPrism } from "@ruby/prism";
const parse = await loadPrism();
for (const text of ["A, B = 1", "case 1 when 2 then 3 end", "[1, 2]"]) {
  const node = parse(text).value.statements.body[0];
  const [all, compact] = [node.childNodes().filter(Boolean), node.compactChildNodes()];
  console.log(`${node.constructor.name}: childNodes ${all.length}, compactChildNodes ${compact.length}`);
}
JS
node --no-warnings show.mjs | tee seen
sed -n 's/^#   //p' "$self" | diff - seen && echo 'as recorded'
