#!/usr/bin/env bash
# What `git config` prints is not what git does where a setting decides how the repository is laid out.
#
# Guess: an included file counts as if its lines were in place of the include, and an extension counts once it is set.
# What happens: git reads how a repository is laid out from the repository's own file alone. `core.bare` from an included file
# is printed as true, and the repository is not bare. Extensions count only if the file states a version of the format, though
# any version will do for `worktreeConfig`, also 0.
# Tool: git 2.47.3.
# Seen on 2026-11-27:
#   core.bare in an included file: git config says true, --is-bare-repository says false
#   core.bare in the file itself: git config says true, --is-bare-repository says true
#   worktreeConfig without a version: config.worktree is not read
#   worktreeConfig with version 0: config.worktree is read
# In ixmcp: the layout is read from the repository's own file without includes, and extensions need a version (`format` and
# `settings` in src/git_layout.rs).
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

says() {
    local is_bare
    is_bare=$(git rev-parse --is-bare-repository)
    echo "core.bare in $1: git config says $(git config core.bare), --is-bare-repository says $is_bare"
}
{
    git init -q included
    cd included
    printf '[core]\n\tbare = true\n' >.git/more
    git config --unset core.bare
    git config include.path more
    says 'an included file'
    git config --unset include.path
    git config core.bare true
    says 'the file itself'
    cd ..

    git init -q extended
    cd extended
    printf '[example]\n\tkey = x\n' >.git/config.worktree
    git config extensions.worktreeConfig true
    git config --unset core.repositoryFormatVersion
    echo "worktreeConfig without a version: config.worktree is $(git config example.key >/dev/null || echo not\ )read"
    git config core.repositoryFormatVersion 0
    echo "worktreeConfig with version 0: config.worktree is $(git config example.key >/dev/null || echo not\ )read"
    cd ..
} | tee seen
sed -n 's/^#   //p' "$self" | diff - seen && echo 'as recorded'
