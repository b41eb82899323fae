#!/usr/bin/env bash
# A copy of git's index hides changes that the index itself shows.
#
# Guess: to run a command on an index without touching it, a copy in `GIT_INDEX_FILE` is as good as the original: the bytes are
# equal.
# What happens: the time of the file is part of what it means. A file whose own time is not before that of the index is compared
# by content, because it may have changed right after it was added. A plain `cp` has a later time, so that git trusts the size
# and the times in the index, and a change of the same size at the same time is lost. A copy with the time (`cp -p`) shows it.
# Tool: git 2.47.3.
# Seen on 2026-11-27:
#   the index: file
#   a copy with the time of the index: file
#   a copy: nothing
# In ixmcp: a test that asks git about a copy keeps the time (`would_be_committed` in tests/it/conversions.rs), and an entry of
# the index counts as the state of a file only if it is older than the index (src/scan/tracked.rs).
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
git config core.trustctime false
same_time() { touch -d 2026-01-01T00:00:00Z "$1"; }
echo a >file && same_time file
git add file
echo b >file && same_time file
same_time .git/index
cp -p .git/index ../with-time
cp .git/index ../copy
changed() { GIT_INDEX_FILE=$1 git diff-files --name-only; }
{
    echo "the index: $(changed "$PWD/.git/index")"
    echo "a copy with the time of the index: $(changed "$work/with-time")"
    echo "a copy: $(changed "$work/copy" | grep . || echo nothing)"
} | tee ../seen
cd ..
sed -n 's/^#   //p' "$self" | diff - seen && echo 'as recorded'
