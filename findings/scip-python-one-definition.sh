#!/usr/bin/env bash
# In the SCIP index of scip-python only the first binding of a name is a definition, and the module of a relative import is
# unknown.
#
# Guess: both branches of an `if` that bind a name are definitions of it, and `from .cart import Cart` refers to the module's
# symbol.
# What happens: the second branch is a reference of the first. The relative import names a module without its package, whose
# symbol nothing defines; and one occurrence covers `Cart as Basket`, of which only a part is a name.
# Tool: @sourcegraph/scip-python 0.6.6 (npm).
# Seen on 2026-11-27:
#   shop/__init__.py:1:  defines shop/__init__:
#   shop/__init__.py:1: .cart refers to cart/__init__:
#   shop/__init__.py:1: Cart as Basket refers to `shop.cart`/Cart#
#   shop/cart.py:1:  defines `shop.cart`/__init__:
#   shop/cart.py:3: Cart defines `shop.cart`/Cart#
#   shop/cart.py:7: limit defines `shop.cart`/limit.
#   shop/cart.py:9: limit refers to `shop.cart`/limit.
# In ixmcp: Python's definitions come from its types, and such an index serves relations only. The test that compares the two
# lists where types have more definitions (tests/it/scip_python.rs, fixtures/scip).
set -euo pipefail
self=$(realpath "$0") work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

npm install --silent --no-fund --no-audit @sourcegraph/scip-python@0.6.6 @sourcegraph/scip-typescript@0.4.0 ||
    { echo 'the packages cannot be installed'; exit 2; }
mkdir shop
echo 'from .cart import Cart as Basket' >shop/__init__.py
cat >shop/cart.py <<'PY'
import sys

class Cart:
    pass

if sys.argv:
    limit = 1
else:
    limit = 2
PY
echo '[]' >environment.json
node_modules/.bin/scip-python index . --project-name shop --project-version 1 --environment environment.json \
    --output index.scip >log 2>&1
cat >show.js <<'JS'
const fs = require("fs");
const { scip } = require("@sourcegraph/scip-typescript/dist/src/scip.js");
const index = scip.Index.deserializeBinary(fs.readFileSync("index.scip"));
for (const document of index.documents.sort((a, b) => (a.relative_path < b.relative_path ? -1 : 1))) {
  const lines = fs.readFileSync(document.relative_path, "utf8").split("\n");
  for (const { range, symbol, symbol_roles } of document.occurrences) {
    const text = lines[range[0]].slice(range[1], range[range.length - 1]);
    const name = symbol.split(" 1 ").pop();
    if (["", ".cart", "Cart as Basket", "Cart", "limit"].includes(text)) {
      console.log(`${document.relative_path}:${range[0] + 1}: ${text} ${symbol_roles & 1 ? "defines" : "refers to"} ${name}`);
    }
  }
}
JS
node show.js | tee seen
sed -n 's/^#   //p' "$self" | diff - seen && echo 'as recorded'
