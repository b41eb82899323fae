#!/usr/bin/env bash
# ty does not resolve relative imports of a package whose folder is the root of the project.
#
# Guess: a relative import is resolved by the folder of its file, as pyright does, wherever the project begins.
# What happens: the root of the project is a search path, so a module there has no parent package. `from .nodes import Loader` is
# an error, also from a package below it. In a folder above, the same files have no error.
# Tool: ty 0.0.108, pyright 1.1.407 (PyPI).
# Seen on 2026-11-28:
#   pyright: 0 errors, 0 warnings, 0 informations
#   ty: __init__.py:1:7: error[import-not-found] Cannot resolve imported module `.nodes` - did you mean `nodes`?
#   ty: sub/inner.py:1:8: error[import-not-found] Cannot resolve imported module `..nodes` - did you mean `nodes`?
#   ty: Found 2 diagnostics
#   ty, from the folder above: All checks passed!
# In ixmcp: references in such projects carry `complete: false` (src/pytypes/ty/imports.rs, tests/it/root_package.rs).
set -euo pipefail
self=$(realpath "$0") work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

python3 -m venv venv &&
    venv/bin/pip install -q --disable-pip-version-check ty==0.0.108 pyright==1.1.407 ||
    { echo 'the packages cannot be installed'; exit 2; }
mkdir -p above/package/sub && cd above/package
printf 'from .nodes import Loader\n\nloader = Loader()\n' >__init__.py
printf 'class Loader: ...\n' >nodes.py
touch sub/__init__.py
printf 'from ..nodes import Loader\n\nloader = Loader()\n' >sub/inner.py
export PYRIGHT_PYTHON_IGNORE_WARNINGS=1
{
    "$work/venv/bin/pyright" . | tail -n 1 | sed 's/^/pyright: /'
    "$work/venv/bin/ty" check --output-format concise . 2>/dev/null | sed 's/^/ty: /' || true
    cd ..
    "$work/venv/bin/ty" check --output-format concise . 2>/dev/null | sed 's/^/ty, from the folder above: /'
} | sed 's/ *$//' | tee "$work/seen"
sed -n 's/^#   //p' "$self" | diff - "$work/seen" && echo 'as recorded'
