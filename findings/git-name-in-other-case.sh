#!/usr/bin/env bash
# With `core.ignoreCase`, git lists no file whose name differs from a tracked one in case alone, even where both exist.
#
# Guess: the setting describes the file system. On one that distinguishes case, a new `makefile` next to a tracked `Makefile` is
# an untracked file, whatever the setting says.
# What happens: the new file is in no listing: not in `git status`, not in `git ls-files -o`. A repository gets the setting on
# macOS or Windows and keeps it when it is copied or mounted elsewhere.
# Tool: git 2.47.3.
# Seen on 2026-11-27:
#   core.ignoreCase=false: makefile
#   core.ignoreCase=true: nothing
# In ixmcp: the list of files is git's, so such a file is left out where the setting is on (`remove_other_cases` in
# src/scan/with_tracked.rs).
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

git init -q repository
cd repository
echo 'all:' >Makefile
git add Makefile
echo 'all:' >makefile
[ -e Makefile ] && [ "$(ls | wc -l)" = 2 ] || { echo 'this file system ignores case'; exit 2; }
{
    git config core.ignoreCase false
    echo "core.ignoreCase=false: $(git ls-files -o)"
    git config core.ignoreCase true
    echo "core.ignoreCase=true: $(git ls-files -o | grep . || echo nothing)"
} | tee ../seen
cd ..
sed -n 's/^#   //p' "$self" | diff - seen && echo 'as recorded'
