"""Asks the teacher for the vectors of some texts of the training split: questions first, then answers.

    teach.py DATA PAIRS… [--questions N] [--answers N]
"""

import argparse
import pathlib

import numpy as np

import teacher
from train import load

AT_ONCE = 2048


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("pairs", nargs="+")
    parser.add_argument("--questions", type=int, default=60000)
    parser.add_argument("--answers", type=int, default=15000)
    options = parser.parse_args()
    pairs = load(options.pairs)
    train = np.array([at for at, pair in enumerate(pairs) if pair["split"] == "train"])
    train = np.random.default_rng(7).permutation(train)
    network = teacher.Teacher(threads=1)
    rows, vectors = [], []
    for side, count, longest, offset in (("asked", options.questions, 48, 0), ("answer", options.answers, 96, len(pairs))):
        for start in range(0, count, AT_ONCE):
            part = train[start : min(start + AT_ONCE, count)]
            vectors.append(network.encode([pairs[row][side][:800] for row in part], longest).astype(np.float16))
            rows.append(part + offset)
            # What there is can be used if this is stopped.
            np.savez(options.data / "new.npz", rows=np.concatenate(rows), vectors=np.concatenate(vectors))
            (options.data / "new.npz").rename(options.data / "taught.npz")
            print(side, start + len(part), flush=True)


main()
