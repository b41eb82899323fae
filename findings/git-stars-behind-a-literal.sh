#!/usr/bin/env bash
# In an ignore file of git, `**` means more than the manual says where only letters are before it.
#
# Guess: `**` crosses folders only next to slashes; the manual says that it is an ordinary `*` otherwise. So `cache**/z` ignores
# `cache1/z` and not `cache1/2/z`, and a library for ignore files agrees with git on that.
# What happens: git compares the literal beginning of a pattern first and matches the rest alone. The rest begins with `**`, as
# if that were at the start of the pattern: any depth. `?ache**/z` has no literal beginning and does not match. The library
# follows the manual, and does not know classes such as `[[:digit:]]`.
# Tool: git 2.47.3; pathspec 1.0.3 (PyPI). gix-ignore 0.24.1 (crates.io) does not ignore the first path, either.
# Seen on 2026-11-27:
#   cache**/z, cache1/2/z: git ignores it, pathspec does not
#   ?ache**/z, cache1/2/z: git does not, pathspec does not
#   **/z, cache1/2/z: git ignores it, pathspec ignores it
#   [[:digit:]]x, 1x: git ignores it, pathspec does not
# In ixmcp: decided against the libraries; patterns are matched by a port of git's own code (src/wildmatch.rs), behind the
# literal beginning (src/scan/patterns.rs).
set -euo pipefail
self=$(realpath "$0") work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
[[ $(git version 2>/dev/null) =~ ([0-9]+)\.([0-9]+) ]] && ((BASH_REMATCH[1] * 100 + BASH_REMATCH[2] >= 232)) ||
    { echo 'git 2.32 or newer is missing'; exit 2; }
unset "${!GIT_@}"
export HOME=$work GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=$work/.gitconfig
git config --global user.name 'A. Person'
git config --global user.email person@example.org
git config --global init.defaultBranch main

python3 -m venv venv &&
    venv/bin/pip install -q --disable-pip-version-check --no-deps pathspec==1.0.3 ||
    { echo 'the packages cannot be installed'; exit 2; }
git init -q repository
cat >probe.py <<'PY'
import subprocess
import warnings

import pathspec

warnings.simplefilter("ignore")
for pattern, path in [("cache**/z", "cache1/2/z"), ("?ache**/z", "cache1/2/z"), ("**/z", "cache1/2/z"), ("[[:digit:]]x", "1x")]:
    with open("repository/.gitignore", "w") as rules:
        rules.write(f"{pattern}\n")
    by_git = subprocess.run(["git", "check-ignore", "-q", path], cwd="repository").returncode == 0
    by_pathspec = pathspec.GitIgnoreSpec.from_lines([pattern]).match_file(path)
    says = {True: "ignores it", False: "does not"}
    print(f"{pattern}, {path}: git {says[by_git]}, pathspec {says[by_pathspec]}")
PY
venv/bin/python probe.py | tee seen
sed -n 's/^#   //p' "$self" | diff - seen && echo 'as recorded'
