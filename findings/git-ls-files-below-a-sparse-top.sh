#!/usr/bin/env bash
# In a subfolder of a sparse checkout, `git ls-files` lists files that git ignores.
#
# Guess: `git ls-files --others --exclude-standard` in a subfolder lists those of the whole list that are below it, as
# `git status` does.
# What happens: an ignore file that the sparse checkout leaves out is read from the index, and in a subfolder `ls-files` keeps only
# that folder's entries of the index: an ignore file above it is not found. `git status` and `git check-ignore` find it there, too.
# Tool: git 2.47.3.
# Seen on 2026-11-28:
#   ls-files at the top: nothing
#   ls-files in b: lost.log
#   status in b: nothing
#   check-ignore in b: .gitignore:1:*.log lost.log
# In ixmcp: such an ignore file counts wherever the root is (src/scan/absent_rules.rs); tests ask git at the top of the work tree.
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
mkdir a b
echo '*.log' >.gitignore
echo text | tee a/kept >b/gone
git add .
git commit -qm files
git sparse-checkout set --no-cone /a/
mkdir b
echo text >b/lost.log
others() { git ls-files --others --exclude-standard | grep . || echo nothing; }
{
    echo "ls-files at the top: $(others)"
    cd b
    echo "ls-files in b: $(others)"
    echo "status in b: $(git status --porcelain -uall . | grep . || echo nothing)"
    echo "check-ignore in b: $(git check-ignore -v lost.log | tr '\t' ' ')"
} | tee ../seen
cd ..
sed -n 's/^#   //p' "$self" | diff - seen && echo 'as recorded'
