"""Converts pairs to the input of training: the vocabulary, bags of tokens, the teacher's vector of each token.

    prepare.py OUT PAIRS… [--size TOKENS]
"""

import argparse
import collections
import json
import pathlib
import time

import numpy as np
import scipy.sparse as sparse

import measure
import teacher
import tokens
from train import bags, load

# Kinds of pairs that are no packages' own language.
EVERYDAY = ("word", "sense", "talk", "place")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("pairs", nargs="+")
    parser.add_argument("--size", type=int, default=30000, help="tokens by what packages use")
    parser.add_argument("--more", type=int, default=8000, help="words more, by what everyday texts use")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    started = time.time()

    def log(line):
        print(f"{time.time() - started:.0f} s: {line}", flush=True)

    pairs = load(options.pairs)
    split = np.array([pair["split"] for pair in pairs])
    log(f"{len(pairs)} pairs, {dict(collections.Counter((p['split'], p['kind']) for p in pairs))}")
    texts, everyday = collections.defaultdict(list), []
    for pair in pairs:
        if pair["kind"] in EVERYDAY:
            everyday += [pair["asked"], pair["answer"]]
        elif pair["split"] == "train":
            texts[pair["package"]] += [pair["asked"], pair["answer"]]
    bert = tokens.bert_tokens(teacher.FOLDER / "tokenizer.json")
    chosen = bert if options.size == 0 else tokens.choose(texts, bert, options.size, everyday, options.more)
    log(f"{len(chosen)} tokens")
    vocabulary = tokens.Vocabulary(chosen)
    asked = bags([pair["asked"] for pair in pairs], vocabulary, 256)
    answers = bags([pair["answer"] for pair in pairs], vocabulary, 512)
    log("bags")
    sparse.save_npz(options.out / "asked.npz", asked)
    sparse.save_npz(options.out / "answers.npz", answers)
    (options.out / "tokens.json").write_text(json.dumps(chosen))
    packages = np.array([pair["package"] for pair in pairs])
    kinds = np.array([pair["kind"] for pair in pairs])
    np.savez(options.out / "data.npz", packages=packages, kinds=kinds, split=split)
    network = teacher.Teacher(threads=1)
    np.save(options.out / "of_tokens.npy", network.encode([token.removeprefix("##") for token in chosen], 16).astype(np.float16))
    log("tokens taught")
    np.savez(options.out / "taught.npz", rows=np.zeros(0, int), vectors=np.zeros((0, teacher.WIDTH), np.float16))
    data = measure.Data(options.out)
    words = {}
    for name, _, questions, rows in data.sets:
        words[name] = measure.bm25([pairs[row]["asked"] for row in questions], [pairs[row]["answer"] for row in rows])
    np.savez(options.out / "bm25.npz", **words)
    log("words searched")


main()
