#!/usr/bin/env bash
# No ordinary check of SQLite notices that an FTS5 table lacks a row of the table that it indexes.
#
# Guess: a row that is missing in the index shows in `count(*)` of the FTS5 table, in its `integrity-check`, or at least in
# `PRAGMA integrity_check`, which FTS5 supports.
# What happens: with `content='TABLE'`, `count(*)` counts that table, and both checks look only at whether the index agrees with
# itself. The row is not found. The check compares the two only if it is given the rank 1. A lost row of the table of document
# sizes is not noticed either, though ranking a match of that row fails.
# Tool: SQLite 3.54.1 in apsw 3.54.1.0 (PyPI).
# Seen on 2026-11-27:
#   count(*): 3
#   found by its word: 0
#   integrity-check: ok
#   PRAGMA integrity_check: ok
#   integrity-check with rank 1: database disk image is malformed
#   without the size of a document, integrity-check: ok
#   without the size of a document, bm25: database disk image is malformed
# In ixmcp: the check of an index gives the rank, against a view that builds what each chunk has to be found by (`CHECK` in
# src/store/terms.rs), and a dump counts the rows of the sizes (src/store/audit.rs).
set -euo pipefail
self=$(realpath "$0") work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

python3 -m venv venv &&
    venv/bin/pip install -q --disable-pip-version-check --no-deps apsw==3.54.1.0 ||
    { echo 'the packages cannot be installed'; exit 2; }
cat >probe.py <<'PY'
import apsw


def says(label, sql, answer=lambda rows: "ok"):
    try:
        print(f"{label}: {answer(database.execute(sql).fetchall())}")
    except apsw.Error as error:
        print(f"{label}: {str(error).removeprefix('CorruptError: ')}")


database = apsw.Connection(":memory:")
database.execute("""
    CREATE TABLE fruit (id INTEGER PRIMARY KEY, body TEXT);
    INSERT INTO fruit VALUES (1, 'red apple'), (2, 'green pear'), (3, 'blue plum');
    CREATE VIRTUAL TABLE search USING fts5 (body, content='fruit', content_rowid='id');
    INSERT INTO search (rowid, body) SELECT id, body FROM fruit WHERE id < 3;
""")
says("count(*)", "SELECT count(*) FROM search", lambda rows: rows[0][0])
says("found by its word", "SELECT rowid FROM search WHERE search MATCH 'plum'", len)
says("integrity-check", "INSERT INTO search (search) VALUES ('integrity-check')")
says("PRAGMA integrity_check", "PRAGMA integrity_check", lambda rows: rows[0][0])
says("integrity-check with rank 1", "INSERT INTO search (search, rank) VALUES ('integrity-check', 1)")
database.execute("INSERT INTO search (search) VALUES ('rebuild'); DELETE FROM search_docsize WHERE id = 2")
says("without the size of a document, integrity-check", "INSERT INTO search (search) VALUES ('integrity-check')")
says("without the size of a document, bm25", "SELECT bm25(search) FROM search WHERE search MATCH 'pear'")
PY
venv/bin/python probe.py | tee seen
sed -n 's/^#   //p' "$self" | diff - seen && echo 'as recorded'
