#!/usr/bin/env bash
# A list of rowids next to MATCH makes an FTS5 query slower, not faster.
#
# Guess: `rowid IN (…)` restricts the search to a few rows, so that a query for a frequent word takes less time with it.
# What happens: SQLite hands one rowid at a time to FTS5, which runs the whole MATCH again for each (the plan has `=` before
# `M`). With a unary `+` the list filters what one MATCH finds. On 20,000 rows with a list of 200, the difference is a factor of
# ten and more.
# Tool: SQLite 3.54.1 in apsw 3.54.1.0 (PyPI).
# Seen on 2026-11-27 (measured factor: 18):
#   rowid IN: SCAN search VIRTUAL TABLE INDEX 0:=M1
#   +rowid IN: SCAN search VIRTUAL TABLE INDEX 0:M1
#   both find the same: True
#   at least four times slower: True
# In ixmcp: no list of rowids is handed to the full-text search. A scope is a bitmap, which filters what one MATCH found, or
# words that the paths of its files have in common, in the query itself (src/store/scope.rs).
set -euo pipefail
self=$(realpath "$0") work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

python3 -m venv venv &&
    venv/bin/pip install -q --disable-pip-version-check --no-deps apsw==3.54.1.0 ||
    { echo 'the packages cannot be installed'; exit 2; }
cat >probe.py <<'PY'
import time

import apsw

database = apsw.Connection(":memory:")
database.execute("""
    CREATE VIRTUAL TABLE search USING fts5 (body);
    CREATE TABLE wanted (id INTEGER PRIMARY KEY);
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
    INSERT INTO search (rowid, body) SELECT i, 'common word' || i FROM n;
    INSERT INTO wanted SELECT rowid FROM search WHERE rowid % 100 = 0;
""")
took, found = [], []
for restriction in ["rowid IN", "+rowid IN"]:
    query = f"""SELECT rowid FROM search WHERE search MATCH 'common OR word5' AND {restriction} (SELECT id FROM wanted)
        ORDER BY rank, rowid LIMIT 5"""
    plan = [row[3] for row in database.execute(f"EXPLAIN QUERY PLAN {query}") if "search" in row[3]]
    print(f"{restriction}: {plan[0]}")
    start = time.process_time()
    found.append(database.execute(query).fetchall())
    took.append(time.process_time() - start)
print("both find the same:", found[0] == found[1])
print("at least four times slower:", took[0] > 4 * took[1])
PY
venv/bin/python probe.py | tee seen
sed -n 's/^#   //p' "$self" | diff - seen && echo 'as recorded'
