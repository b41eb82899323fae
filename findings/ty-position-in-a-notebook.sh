#!/usr/bin/env bash
# None of the formats of ty that programs read says in which cell of a notebook a diagnostic is.
#
# Guess: SARIF, GitLab's JSON, JUnit and GitHub's annotations have at least the position that the text for people has.
# What happens: only the texts name the cell. SARIF counts the lines of all code cells as one text; GitLab's and GitHub's
# formats state line 1, column 1; JUnit states no position. Of these, only GitHub's has the notes, such as where a function
# is defined.
# Tool: ty 0.0.108 (PyPI).
# Seen on 2026-11-27, for the second line of the third cell:
#   concise: book.ipynb:cell 3:2:14
#   sarif: line 3, column 14
#   gitlab: line 1, column 1
#   github: line 1, column 1
#   junit: no position
# In ixmcp: an installed ty runs once for each format that an answer needs, and the results are joined in the order that all
# formats share (src/pytypes/installed_ty.rs): ranges from SARIF, cells from the text, notes from GitHub's.
set -euo pipefail
self=$(realpath "$0") work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

python3 -m venv venv &&
    venv/bin/pip install -q --disable-pip-version-check --no-deps ty==0.0.108 ||
    { echo 'the packages cannot be installed'; exit 2; }
cat >book.ipynb <<'JSON'
{
  "cells": [
    { "cell_type": "code", "execution_count": null, "id": "a", "metadata": {}, "outputs": [], "source": ["one: int = 1"] },
    { "cell_type": "markdown", "id": "b", "metadata": {}, "source": ["Text."] },
    { "cell_type": "code", "execution_count": null, "id": "c", "metadata": {}, "outputs": [], "source": ["two = 2\n", "three: int = \"\""] }
  ],
  "metadata": {},
  "nbformat": 4,
  "nbformat_minor": 5
}
JSON
cat >probe.py <<'PY'
import json
import re
import subprocess
import xml.etree.ElementTree


def printed(format):
    command = ["venv/bin/ty", "check", "--output-format", format, "--python", "venv", "book.ipynb"]
    return subprocess.run(command, capture_output=True, text=True).stdout


print("concise:", printed("concise").split(": ")[0])
region = json.loads(printed("sarif"))["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"]
print(f"sarif: line {region['startLine']}, column {region['startColumn']}")
begin = json.loads(printed("gitlab"))[0]["location"]["positions"]["begin"]
print(f"gitlab: line {begin['line']}, column {begin['column']}")
line, column = re.search(r",line=(\d+),col=(\d+)", printed("github")).groups()
print(f"github: line {line}, column {column}")
case = xml.etree.ElementTree.fromstring(printed("junit")).find(".//testcase")
print("junit:", f"line {case.get('line')}" if "line" in case.keys() else "no position")
PY
venv/bin/python probe.py | tee seen
sed -n 's/^#   //p' "$self" | diff - seen && echo 'as recorded'
