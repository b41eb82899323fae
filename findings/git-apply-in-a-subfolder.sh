#!/usr/bin/env bash
# In a subfolder, the line `diff --git` decides whether `git apply` changes a file or does nothing and succeeds.
#
# Guess: that line is decoration for a plain change of one file: `git apply` finds the file by `---` and `+++`, and fails if it
# does not.
# What happens: with the line, names begin at the top of the repository, and what is not below the current folder is skipped:
# exit code 0, no message, no change. Without it, the same patch is applied to the file in the current folder.
# Tool: git 2.47.3.
# Seen on 2026-11-27, in `sub`, for a patch of `a/file` and `b/file`:
#   with diff --git: exit code 0, file has old
#   without diff --git: exit code 0, file has new
# In ixmcp: patches have no such line, and their paths begin at the current folder, so that `ixmcp infer --diff | git apply`
# works anywhere in a repository (`diff` in src/query/patch.rs).
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
mkdir repository/sub
cd repository/sub
echo old >file
git add file
git commit -q -m first
printf '%s\n' '--- a/file' '+++ b/file' '@@ -1 +1 @@' -old +new >../../plain.patch
{ echo 'diff --git a/file b/file'; cat ../../plain.patch; } >../../git.patch
{
    code=0
    git apply ../../git.patch || code=$?
    echo "with diff --git: exit code $code, file has $(cat file)"
    code=0
    git apply ../../plain.patch || code=$?
    echo "without diff --git: exit code $code, file has $(cat file)"
} | tee ../../seen
cd ../..
sed -n 's/^#   //p' "$self" | diff - seen && echo 'as recorded'
