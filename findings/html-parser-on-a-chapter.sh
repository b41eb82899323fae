#!/usr/bin/env bash
# A parser that reads HTML as browsers do loses a whole chapter of an EPUB book.
#
# Guess: chapters are XHTML, which an HTML parser reads as well as XML, but for entities; `<title/>` is an empty title for both.
# What happens: in HTML the slash of an element that is not void means nothing, and what follows `<title>` is text up to
# `</title>`, which never comes. The document has a title and an empty body, and no error is raised. A parser of XML reads the
# chapter.
# Tool: html5lib 1.1 (PyPI), which follows the standard; Python's xml.etree.
# Seen on 2026-11-27:
#   html5lib: body ''
#   xml.etree: body 'Chapter one Some words.'
# In ixmcp: a chapter has to be read as the type that its book states for it, XML, before it is text of a page
# (src/extract/documents/epub.rs).
set -euo pipefail
self=$(realpath "$0") work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

python3 -m venv venv &&
    venv/bin/pip install -q --disable-pip-version-check html5lib==1.1 ||
    { echo 'the packages cannot be installed'; exit 2; }
cat >probe.py <<'PY'
import xml.etree.ElementTree

import html5lib

CHAPTER = """<?xml version="1.0" encoding="UTF-8"?>
<html xmlns="http://www.w3.org/1999/xhtml"><head><title/></head>
<body><h1>Chapter one</h1><p>Some words.</p></body></html>
"""
NAME = ".//{http://www.w3.org/1999/xhtml}body"
for label, root in [("html5lib", html5lib.parse(CHAPTER)), ("xml.etree", xml.etree.ElementTree.fromstring(CHAPTER))]:
    print(f"{label}: body {' '.join(root.find(NAME).itertext()).strip()!r}")
PY
venv/bin/python probe.py | tee seen
sed -n 's/^#   //p' "$self" | diff - seen && echo 'as recorded'
