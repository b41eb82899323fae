#!/usr/bin/env bash
# The SCIP index of scip-typescript has no reference to a class where an object of it is made, if the class has a constructor.
#
# Guess: `new Cart(1)` refers to `Cart`, as `new Plain()` refers to `Plain`; the constructor may be named in addition.
# What happens: the name has one occurrence, of the constructor's symbol. References of the class lack every `new`. A class that
# declares no constructor is referred to itself. `super(2)` refers to nothing.
# Tool: @sourcegraph/scip-typescript 0.4.0 (npm).
# Seen on 2026-11-27:
#   2: Cart defines Cart#
#   5: Plain defines Plain#
#   6: Cart refers to Cart#`<constructor>`().
#   7: Plain refers to Plain#
#   8: Cart refers to Cart#
# In ixmcp: references and callers of a class have to include what the index states about its constructor, whose symbol has no
# name in code (`name_of` in src/extract/scip.rs).
set -euo pipefail
self=$(realpath "$0") work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

npm install --silent --no-fund --no-audit @sourcegraph/scip-typescript@0.4.0 ||
    { echo 'the packages cannot be installed'; exit 2; }
cat >tsconfig.json <<'JSON'
{ "files": ["shop.ts"], "compilerOptions": { "target": "es2022", "module": "commonjs", "strict": true } }
JSON
cat >shop.ts <<'TS'
// A class with a constructor, and one without.
export class Cart {
  constructor(size: number) {}
}
export class Plain {}
export const cart = new Cart(1);
export const plain = new Plain();
export class Basket extends Cart {
  constructor() {
    super(2);
  }
}
TS
node_modules/.bin/scip-typescript index --output index.scip >log 2>&1
cat >show.js <<'JS'
const fs = require("fs");
const { scip } = require("@sourcegraph/scip-typescript/dist/src/scip.js");
const index = scip.Index.deserializeBinary(fs.readFileSync("index.scip"));
for (const document of index.documents) {
  const lines = fs.readFileSync(document.relative_path, "utf8").split("\n");
  for (const { range, symbol, symbol_roles } of document.occurrences) {
    const text = lines[range[0]].slice(range[1], range[range.length - 1]);
    const name = symbol.split("/").pop();
    if (text === "Cart" || text === "Plain" || text === "super") {
      console.log(`${range[0] + 1}: ${text} ${symbol_roles & 1 ? "defines" : "refers to"} ${name}`);
    }
  }
}
JS
node show.js | tee seen
sed -n 's/^#   //p' "$self" | diff - seen && echo 'as recorded'
