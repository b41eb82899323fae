#!/usr/bin/env bash
# The package of all tree-sitter grammars contains none of them: it downloads each one when it is first asked for.
#
# Guess: `pip install tree-sitter-language-pack` installs the hundreds of grammars that it names, so that a program works
# offline from then on; `has_language` says whether one is there.
# What happens: the package is one library of six megabytes. `has_language("python")` is true, but the parser is fetched from a
# release page. Without a way there it fails, and the list of available languages is empty.
# Tool: tree-sitter-language-pack 1.25.0 (PyPI).
# Seen on 2026-11-27, behind a proxy that refuses connections:
#   has_language("python"): True
#   available_languages(): []
#   libraries in the package: ['_native.abi3.so']
#   get_parser("python"): DownloadError
# In ixmcp: decided against it, because ixmcp works offline from one file. Each grammar is a crate that is linked (Cargo.toml).
set -euo pipefail
self=$(realpath "$0") work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

python3 -m venv venv &&
    venv/bin/pip install -q --disable-pip-version-check --no-deps tree-sitter==0.26.1 tree-sitter-language-pack==1.25.0 ||
    { echo 'the packages cannot be installed'; exit 2; }
cat >probe.py <<'PY'
import pathlib

import tree_sitter_language_pack as pack

print('has_language("python"):', pack.has_language("python"))
print("available_languages():", pack.available_languages())
print("libraries in the package:", sorted(path.name for path in pathlib.Path(pack.__file__).parent.rglob("*.so")))
try:
    print('get_parser("python"):', type(pack.get_parser("python")).__name__)
except Exception as error:
    print('get_parser("python"):', type(error).__name__)
PY
export HOME=$work XDG_CACHE_HOME=$work/cache https_proxy=http://127.0.0.1:9 HTTPS_PROXY=http://127.0.0.1:9
venv/bin/python probe.py | tee seen
sed -n 's/^#   //p' "$self" | diff - seen && echo 'as recorded'
