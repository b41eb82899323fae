#!/usr/bin/env bash
# In a repository with reftable, `.git/HEAD` names a branch that does not exist.
#
# Guess: `.git/HEAD` has the branch that is checked out or the id of a commit, whatever keeps the references; that is how
# prompts and editors read it.
# What happens: it says `ref: refs/heads/.invalid`, also when a commit is checked out without a branch, and `refs/heads` is a
# file. What is checked out is in the tables.
# Tool: git 2.47.3 (reftable since 2.45).
# Seen on 2026-11-27:
#   on a branch: HEAD says ref: refs/heads/.invalid, git says trunk
#   without a branch: HEAD says ref: refs/heads/.invalid, git says HEAD
#   refs/heads is a file
# In ixmcp: `.invalid` is never shown as a branch. Git is asked, and without git the branch is not stated (`head` in
# src/git_layout.rs).
set -euo pipefail
self=$(realpath "$0") work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
[[ $(git version 2>/dev/null) =~ ([0-9]+)\.([0-9]+) ]] && ((BASH_REMATCH[1] * 100 + BASH_REMATCH[2] >= 245)) ||
    { echo 'git 2.45 or newer is missing'; exit 2; }
unset "${!GIT_@}"
export HOME=$work GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=$work/.gitconfig
git config --global user.name 'A. Person'
git config --global user.email person@example.org
git config --global init.defaultBranch main

git init -q --ref-format=reftable -b trunk repository
cd repository
git commit -q --allow-empty -m first
{
    echo "on a branch: HEAD says $(cat .git/HEAD), git says $(git rev-parse --abbrev-ref HEAD)"
    git checkout -q --detach
    echo "without a branch: HEAD says $(cat .git/HEAD), git says $(git rev-parse --abbrev-ref HEAD)"
    [ -f .git/refs/heads ] && echo 'refs/heads is a file'
} | tee ../seen
cd ..
sed -n 's/^#   //p' "$self" | diff - seen && echo 'as recorded'
