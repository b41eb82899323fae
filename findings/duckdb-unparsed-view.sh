#!/usr/bin/env bash
# One view that DuckDB cannot parse hides every table of a SQLite file from its listing.
#
# Guess: DuckDB's scanner of SQLite files lists the tables, and a view whose SQL it does not read fails when it is queried.
# What happens: the listing parses the SQL of each view by DuckDB's grammar and fails as a whole. `char(10)`, a function in SQLite, is a
# type there, and a JOIN without a condition before a LEFT JOIN does not end. `CAST(x'0a' AS TEXT)` and CROSS JOIN are read by both.
# Tool: DuckDB 1.4.2 with sqlite_scanner 1.4.2 (PyPI: duckdb, duckdb-extension-sqlite-scanner, duckdb-extensions).
# Seen on 2026-11-28:
#   no view: lists a, b
#   char(10): ParserException
#   CAST(x'0a' AS TEXT): lists a, b
#   JOIN without a condition, then LEFT JOIN: ParserException
#   CROSS JOIN, then LEFT JOIN: lists a, b
# In ixmcp: the views of the index avoid both (migrations/V1__schema.sql).
set -euo pipefail
self=$(realpath "$0") work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

python3 -m venv venv &&
    venv/bin/pip install -q --disable-pip-version-check duckdb==1.4.2 duckdb-extensions==1.4.2 duckdb-extension-sqlite-scanner==1.4.2 ||
    { echo 'the packages cannot be installed'; exit 2; }
cat >probe.py <<'PY'
import sqlite3

import duckdb
from duckdb_extensions import import_extension

import_extension("sqlite_scanner")
VIEWS = {
    "no view": None,
    "char(10)": "SELECT x || char(10) AS y FROM a",
    "CAST(x'0a' AS TEXT)": "SELECT x || CAST(x'0a' AS TEXT) AS y FROM a",
    "JOIN without a condition, then LEFT JOIN": "SELECT a.x FROM a JOIN b LEFT JOIN b c ON c.x = a.x",
    "CROSS JOIN, then LEFT JOIN": "SELECT a.x FROM a CROSS JOIN b LEFT JOIN b c ON c.x = a.x",
}
for number, (label, view) in enumerate(VIEWS.items()):
    name = f"{number}.db"
    with sqlite3.connect(name) as file:
        file.execute("CREATE TABLE a (x TEXT)")
        file.execute("CREATE TABLE b (x TEXT)")
        if view:
            file.execute(f"CREATE VIEW v AS {view}")
            file.execute("SELECT * FROM v").fetchall()
    connection = duckdb.connect()
    connection.execute("LOAD sqlite_scanner")
    connection.execute(f"ATTACH '{name}' AS file (TYPE sqlite)")
    try:
        listed = sorted(row[2] for row in connection.execute("SHOW ALL TABLES").fetchall())
        print(f"{label}: lists {', '.join(table for table in listed if table != 'v')}")
    except duckdb.Error as error:
        print(f"{label}: {type(error).__name__}")
PY
venv/bin/python probe.py | tee seen
sed -n 's/^#   //p' "$self" | diff - seen && echo 'as recorded'
