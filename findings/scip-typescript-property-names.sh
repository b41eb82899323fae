#!/usr/bin/env bash
# The last part of a symbol of scip-typescript is not always the name that the code has.
#
# Guess: the last descriptor of a SCIP symbol is the name of what it means, and a name in code has one occurrence with one
# symbol.
# What happens: properties of object literals are numbered through the file: `email0`, `email1`. Accessors have `<get>` and
# `<set>` in front of their names. A shorthand property has two occurrences in one place, and an assignment to a property with
# both accessors has both, although it reads nothing. A field that the constructor's parameter declares is a parameter.
# Tool: @sourcegraph/scip-typescript 0.4.0 (npm).
# Seen on 2026-11-27:
#   2: size defines Cart#`<constructor>`().(size)
#   3: total defines Cart#`<get>total`().
#   4: total defines Cart#`<set>total`().
#   7: total refers to Cart#`<get>total`().
#   7: total refers to Cart#`<set>total`().
#   7: size refers to Cart#`<constructor>`().(size)
#   8: email defines email.
#   9: email defines email0:
#   10: email defines email1:
#   10: email refers to email.
# In ixmcp: a name may be followed by digits that the text does not have, and `<get>` and `<set>` are taken off (`is_name` and
# `name_of` in src/extract/scip.rs); all symbols at a position count.
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
export class Cart {
  constructor(public size: number) {}
  get total(): number { return 1; }
  set total(value: number) {}
}
export function fill(cart: Cart) {
  cart.total = cart.size; }
const email = "owner@example.org";
export const long = { email: 1 };
export const short = { email };
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
    if (["size", "total", "email"].includes(text)) {
      console.log(`${range[0] + 1}: ${text} ${symbol_roles & 1 ? "defines" : "refers to"} ${name}`);
    }
  }
}
JS
node show.js | tee seen
sed -n 's/^#   //p' "$self" | diff - seen && echo 'as recorded'
