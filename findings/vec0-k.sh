#!/usr/bin/env bash
# In vec0, `k` is the number of results for some conditions, more than that for others, and fewer for the rest.
#
# Guess: `MATCH ? AND k = 2` with a condition gives the two nearest rows that satisfy it, or else the two nearest rows, then
# filtered; in any case the same rule for every column.
# What happens: a metadata column and `rowid IN` are conditions of the search, and `rowid > 4` is applied to its two results, of
# which none may be left. `IN` on a partition key runs one search for each value, so that k = 2 gives four rows.
# Tool: sqlite-vec 0.1.9 with SQLite 3.54.1 in apsw 3.54.1.0 (PyPI).
# Seen on 2026-11-27, six rows, the nearest first, k = 2:
#   no condition: [1, 2]
#   lang = 'go': [4, 5]
#   rowid IN (5, 6): [5, 6]
#   rowid > 4: []
#   part = 1: [1, 3]
#   part IN (0, 1): [1, 2, 3, 4]
# In ixmcp: decided against vec0 for its own searches. Vectors are compared in memory, and what a search is narrowed to counts
# before the limit (src/store/near.rs).
set -euo pipefail
self=$(realpath "$0") work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

python3 -m venv venv &&
    venv/bin/pip install -q --disable-pip-version-check --no-deps apsw==3.54.1.0 sqlite-vec==0.1.9 ||
    { echo 'the packages cannot be installed'; exit 2; }
cat >probe.py <<'PY'
import apsw
import sqlite_vec

database = apsw.Connection(":memory:")
database.enable_load_extension(True)
database.load_extension(sqlite_vec.loadable_path())
database.execute("CREATE VIRTUAL TABLE by_language USING vec0 (e float[2], lang text)")
database.execute("CREATE VIRTUAL TABLE by_part USING vec0 (part integer partition key, e float[2])")
for row in range(1, 7):
    language, vector = "rust" if row < 4 else "go", f"[{row}, 0]"
    database.execute("INSERT INTO by_language (rowid, e, lang) VALUES (?, ?, ?)", (row, vector, language))
    database.execute("INSERT INTO by_part (rowid, part, e) VALUES (?, ?, ?)", (row, row % 2, vector))
for table, condition in [
    ("by_language", ""),
    ("by_language", "lang = 'go'"),
    ("by_language", "rowid IN (5, 6)"),
    ("by_language", "rowid > 4"),
    ("by_part", "part = 1"),
    ("by_part", "part IN (0, 1)"),
]:
    query = f"SELECT rowid FROM {table} WHERE e MATCH '[0, 0]' AND k = 2 {condition and 'AND'} {condition}"
    print(f"{condition or 'no condition'}: {sorted(row for row, in database.execute(query))}")
PY
venv/bin/python probe.py | tee seen
sed -n 's/^#   //p' "$self" | diff - seen && echo 'as recorded'
