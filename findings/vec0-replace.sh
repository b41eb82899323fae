#!/usr/bin/env bash
# INSERT OR REPLACE does not replace a row of a vec0 table, and a text column of it holds no NULL.
#
# Guess: a virtual table with a primary key supports `INSERT OR REPLACE`, as FTS5 does, and columns without NOT NULL hold NULL.
# What happens: the statement fails as if OR REPLACE were not there. The old row has to be deleted first. NULL in a metadata
# column is an error about a type.
# Tool: sqlite-vec 0.1.9 with SQLite 3.54.1 in apsw 3.54.1.0 (PyPI).
# Seen on 2026-11-27:
#   fts5, INSERT OR REPLACE: ok
#   vec0, INSERT OR REPLACE: UNIQUE constraint failed on v primary key
#   vec0, DELETE and INSERT: ok
#   vec0, NULL: Expected text for TEXT metadata column lang, received NULL
# In ixmcp: decided against vec0 for its own vectors. They are in an ordinary table, which is written like all others
# (migrations/V1__schema.sql says what else speaks for it); `ixmcp sql` offers sqlite-vec to users (src/store/raw.rs).
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


def says(label, sql):
    try:
        database.execute(sql)
        print(f"{label}: ok")
    except apsw.Error as error:
        print(f"{label}: {error}")


database = apsw.Connection(":memory:")
database.enable_load_extension(True)
database.load_extension(sqlite_vec.loadable_path())
database.execute("""
    CREATE VIRTUAL TABLE f USING fts5 (body);
    CREATE VIRTUAL TABLE v USING vec0 (e float[2], lang text);
    INSERT INTO f (rowid, body) VALUES (1, 'a');
    INSERT INTO v (rowid, e, lang) VALUES (1, '[1, 0]', 'rust');
""")
says("fts5, INSERT OR REPLACE", "INSERT OR REPLACE INTO f (rowid, body) VALUES (1, 'b')")
says("vec0, INSERT OR REPLACE", "INSERT OR REPLACE INTO v (rowid, e, lang) VALUES (1, '[0, 1]', 'rust')")
says("vec0, DELETE and INSERT", "DELETE FROM v WHERE rowid = 1; INSERT INTO v (rowid, e, lang) VALUES (1, '[0, 1]', 'rust')")
says("vec0, NULL", "INSERT INTO v (rowid, e, lang) VALUES (2, '[0, 1]', NULL)")
PY
venv/bin/python probe.py | tee seen
sed -n 's/^#   //p' "$self" | diff - seen && echo 'as recorded'
