"""Computes the teacher's vectors of everyday texts and of prose of the training split, for `train.py`.

    teach.py DATA PAIRS… [--texts N]
"""

import argparse
import pathlib

import numpy as np

import measure
import teacher
from train import load

AT_ONCE = 2048
LONGEST = 64
# Which side of a pair is a text by itself, by its kind.
SIDES = {"talk": ("asked",), "sense": ("answer",), "place": ("answer",)} | dict.fromkeys(measure.PROSE, ("asked", "answer"))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("pairs", nargs="+")
    parser.add_argument("--texts", type=int, default=24576)
    options = parser.parse_args()
    pairs = load(options.pairs)
    # As rows of all queries, then of all answers.
    texts = {
        at + (len(pairs) if side == "answer" else 0): pair[side][:800]
        for at, pair in enumerate(pairs)
        if pair["split"] == "train"
        for side in SIDES.get(pair["kind"], ())
    }
    chosen = np.random.default_rng(7).permutation(list(texts))[: options.texts]
    network = teacher.Teacher(threads=1)
    vectors = []
    for start in range(0, len(chosen), AT_ONCE):
        part = chosen[start : start + AT_ONCE]
        vectors.append(network.encode([texts[row] for row in part], LONGEST).astype(np.float16))
        # What there is can be used if this is stopped.
        np.savez(options.data / "new.npz", rows=chosen[: start + len(part)], vectors=np.concatenate(vectors))
        (options.data / "new.npz").rename(options.data / "taught.npz")
        print(start + len(part), flush=True)


main()
