#!/usr/bin/env bash
# Git does not follow a `.gitignore` that is a symbolic link, but follows one in the place of `info/exclude`.
#
# Guess: a file of rules is read through a symbolic link like any other file; many people link `.gitignore` to one that they
# share.
# What happens: since git 2.32 a linked `.gitignore` counts as absent, with one line on stderr, and so does a linked
# `.gitattributes`. The files of the same syntax in `.git/info` are read through links.
# Tool: git 2.47.3.
# Seen on 2026-11-27:
#   .gitignore: debug.log is not ignored
#   info/exclude: debug.log is ignored
#   .gitattributes: debug.log: eol: unspecified
#   info/attributes: debug.log: eol: lf
# In ixmcp: a `.gitignore` that is a link is passed over, and linked exclusions are read (`read_rule_file` in
# src/scan/ignored.rs).
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

echo '*.log' >rules
echo '*.log text eol=lf' >attributes
git init -q repository
cd repository
says() { git check-ignore -q debug.log 2>/dev/null && echo "$1: debug.log is ignored" || echo "$1: debug.log is not ignored"; }
{
    ln -s ../rules .gitignore
    says .gitignore
    rm .gitignore
    ln -sf ../../../rules .git/info/exclude
    says info/exclude
    ln -s ../attributes .gitattributes
    echo ".gitattributes: $(git check-attr eol debug.log 2>/dev/null)"
    rm .gitattributes
    ln -sf ../../../attributes .git/info/attributes
    echo "info/attributes: $(git check-attr eol debug.log)"
} | tee ../seen
cd ..
sed -n 's/^#   //p' "$self" | diff - seen && echo 'as recorded'
