#!/bin/sh
# Makes table.bin, vocabulary.txt and references.jsonl: make.sh WORK-FOLDER. Takes about 2 GB of disk and half an
# hour of one core; needs python3 (3.11), pip, cargo, npm, and Debian's apt-get.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
work=$(cd "$1" && pwd)
[ -d "$work/venv" ] || python3 -m venv "$work/venv"
python=$work/venv/bin/python
"$python" -m pip install --quiet --no-deps -r "$here/requirements.txt"
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
"$python" "$here/fetch.py" "$work/packages"
"$python" "$here/mine.py" "$work/packages" "$work/pairs.jsonl"
"$python" "$here/everyday.py" "$work/packages" "$work/everyday.jsonl"
"$python" "$here/prepare.py" "$work/data" "$work/pairs.jsonl" "$work/everyday.jsonl"
"$python" "$here/teach.py" "$work/data" "$work/pairs.jsonl" "$work/everyday.jsonl"
"$python" "$here/train.py" "$work/data" --out "$work" --label table
"$python" "$here/export.py" "$work/data" "$work/table.npz"
