"""Trains the table: distills the teacher into one vector per token, then trains queries to be similar to their answers.

    train.py PAIRS… --out FOLDER [--name value …]
"""

import argparse
import collections
import csv
import json
import math
import pathlib
import time

import numpy as np
import scipy.sparse as sparse

import measure
import tokens
from fetch import HERE


def load(files):
    """Pairs of packages that sources.tsv names, each answer once, in an order that is always the same."""
    with open(HERE / "sources.tsv", newline="") as file:
        split = {f"{row['registry']}/{row['name']}": row["split"] for row in csv.DictReader(file, delimiter="\t")}
    pairs, seen = [], set()
    for file in files:
        with open(file) as lines:
            for line in lines:
                pair = json.loads(line)
                if pair["package"] in split and pair["answer"] not in seen:
                    seen.add(pair["answer"])
                    pair["split"] = split[pair["package"]]
                    pairs.append(pair)
    return pairs


def bags(texts, vocabulary, longest):
    """Sparse rows of token counts, and the number of tokens in all."""
    pointers, columns, counts = [0], [], []
    for text in texts:
        count = collections.Counter(vocabulary.of_text(text)[:longest])
        columns.extend(count.keys())
        counts.extend(count.values())
        pointers.append(len(columns))
    shape = (len(texts), len(vocabulary.tokens))
    return sparse.csr_matrix((np.array(counts, np.float32), np.array(columns, np.int32), np.array(pointers)), shape)


def damped(bag, power):
    """Repeated tokens count less than their number."""
    return sparse.csr_matrix((bag.data**power, bag.indices, bag.indptr), bag.shape)


def dropped(bag, share, random):
    """Without some of its tokens: so that no pair is learnt by heart."""
    if not share:
        return bag
    kept = random.random(len(bag.data), np.float32) >= share
    return sparse.csr_matrix((bag.data * kept, bag.indices, bag.indptr), bag.shape)


def unit(rows):
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)


class Adam:
    def __init__(self, table):
        self.table, self.step = table, 0
        self.first, self.second = np.zeros_like(table), np.zeros(len(table), np.float32)

    def update(self, rows, gradient, rate):
        """Only rows that a batch has touched; one size of step a row."""
        self.step += 1
        first = self.first[rows] * 0.9 + gradient * 0.1
        second = self.second[rows] * 0.99 + np.square(gradient).mean(1) * 0.01
        self.first[rows], self.second[rows] = first, second
        size = rate * math.sqrt(1 - 0.99 ** min(self.step, 2000)) / (1 - 0.9 ** min(self.step, 200))
        self.table[rows] -= size * first / (np.sqrt(second)[:, None] + 1e-8)


def through_unit(raw, gradient):
    """The gradient before normalisation from that after it."""
    norm = np.maximum(np.linalg.norm(raw, axis=1, keepdims=True), 1e-6)
    rows = raw / norm
    return (gradient - rows * (rows * gradient).sum(1, keepdims=True)) / norm


def softmax(scores):
    scores = np.exp(scores - scores.max(1, keepdims=True))
    return scores / scores.sum(1, keepdims=True)


def learn(adam, bag, gradient, rate):
    rows, local = np.unique(bag.indices, return_inverse=True)
    small = sparse.csr_matrix((bag.data, local.astype(np.int32), bag.indptr), (bag.shape[0], len(rows)))
    adam.update(rows, small.T @ gradient, rate)


def regress(table, bag, targets, options, log):
    """Pulls each text's vector towards the teacher's."""
    adam, random = Adam(table), np.random.default_rng(options.seed)
    steps, done, started = options.regress_epochs * (len(targets) // options.batch), 0, time.time()
    for _ in range(options.regress_epochs):
        order = random.permutation(len(targets))
        for start in range(0, len(order) - options.batch + 1, options.batch):
            rows = order[start : start + options.batch]
            raw = bag[rows] @ table
            gradient = through_unit(raw, -targets[rows].astype(np.float32) / len(rows))
            learn(adam, bag[rows], gradient, options.regress_rate * (1 - done / steps))
            done += 1
        log(f"regression {done}/{steps}, cosine {(unit(raw) * targets[rows]).sum(1).mean():.3f}, {time.time() - started:.0f} s")


def batches(packages, options, random):
    """Orders in which neighbours are of one package: they are the hard negatives of each other."""
    group = options.group
    by_package = collections.defaultdict(list)
    for at in random.permutation(len(packages)):
        by_package[packages[at]].append(at)
    groups = []
    for rows in by_package.values():
        groups += [rows[start : start + group] for start in range(0, len(rows), group)]
    order = [row for at in random.permutation(len(groups)) for row in groups[at]]
    return [np.array(order[start : start + options.batch]) for start in range(0, len(order) - options.batch + 1, options.batch)]


def alike(raw, taught, options):
    """The gradient that makes texts as like each other as they are to the teacher."""
    rows = unit(raw)
    here = np.arange(len(rows))
    own, wanted = options.scale * (rows @ rows.T), options.teacher_scale * (taught @ taught.T)
    own[here, here] = wanted[here, here] = -1e9
    change = (softmax(own) - softmax(wanted)) * (options.scale / len(rows))
    return through_unit(raw, (change + change.T) @ rows)


def contrast(table, asked, answers, packages, taught, options, log, check):
    """Questions against the answers of the whole batch, both ways; beside them, in each step, some texts that the teacher
    knows (their bags, the teacher's vectors)."""
    adam, random = Adam(table), np.random.default_rng(options.seed + 1)
    scale, done, started = options.scale, 0, time.time()
    steps = options.epochs * (len(packages) // options.batch)
    for epoch in range(options.epochs):
        losses = []
        for rows in batches(packages, options, random):
            left, right = dropped(asked[rows], options.drop / 2, random), dropped(answers[rows], options.drop, random)
            raw_left, raw_right = left @ table, right @ table
            u, v = unit(raw_left), unit(raw_right)
            scores = scale * (u @ v.T)
            here = np.arange(len(rows))
            forth, back = softmax(scores), softmax(scores.T)
            losses.append(-np.log(np.maximum(forth[here, here], 1e-9)).mean())
            goal = np.eye(len(rows), dtype=np.float32)
            change = ((forth - goal) + (back - goal).T) * (scale / (2 * len(rows)))
            rate = options.rate * min(1, (done + 1) / 50) * (1 - done / steps)
            parts = [left, right]
            gradients = [through_unit(raw_left, change @ v), through_unit(raw_right, change.T @ u)]
            if options.alike:
                bag, vectors = taught
                chosen = random.integers(0, len(vectors), options.batch // 2)
                parts.append(bag[chosen])
                gradients.append(options.alike * alike(parts[-1] @ table, vectors[chosen], options))
            learn(adam, sparse.vstack(parts, format="csr"), np.vstack(gradients).astype(np.float32), rate)
            done += 1
        log(f"epoch {epoch + 1}: loss {np.mean(losses):.3f}, {time.time() - started:.0f} s; {check(table)}")


def weights(bag, a):
    """Smooth inverse frequency of each token."""
    count = np.asarray(bag.sum(0)).ravel() + 1
    return a / (a + count / count.sum())


def quantised(table):
    """Rows of int8 under one scale each; a row's length is its token's weight."""
    scale = np.maximum(np.abs(table).max(1, keepdims=True), 1e-9) / 127
    return np.clip(np.rint(table / scale), -127, 127).astype(np.int8), scale.ravel().astype(np.float32)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=pathlib.Path, help="what prepare.py made")
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--label", default="run")
    parser.add_argument("--dimension", type=int, default=256)
    parser.add_argument("--a", type=float, default=5e-4)
    parser.add_argument("--power", type=float, default=0.5)
    parser.add_argument("--batch", type=int, default=1024)
    parser.add_argument("--group", type=int, default=32)
    parser.add_argument("--regress-epochs", type=int, default=0)
    parser.add_argument("--regress-rate", type=float, default=0.02)
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--rate", type=float, default=0.005)
    parser.add_argument("--scale", type=float, default=20)
    parser.add_argument("--alike", type=float, default=0.25, help="weight of the teacher's likeness of texts")
    parser.add_argument("--drop", type=float, default=0, help="share of an answer's tokens left out, each time anew")
    parser.add_argument("--teacher-scale", type=float, default=20)
    parser.add_argument("--pairs", type=int, default=0, help="train on so many pairs only")
    parser.add_argument("--kinds", default="", help="train on these kinds only")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()

    data = measure.Data(options.data)
    random = np.random.default_rng(options.seed)

    def log(line):
        print(f"[{options.label}] {line}", flush=True)

    train = data.train[data.kinds[data.train] != "talk"]
    if options.kinds:
        train = train[np.isin(data.kinds[train], options.kinds.split(","))]
    if options.pairs:
        train = random.permutation(train)[: options.pairs]
    asked, answers = damped(data.asked, options.power), damped(data.answers, options.power)
    _, rotation = pca(data.of_tokens)
    rotation = rotation[:, : options.dimension]
    table = unit((data.of_tokens - data.of_tokens.mean(0)) @ rotation) * weights(data.answers[data.train], options.a)[:, None]
    table = np.ascontiguousarray(table, np.float32)

    def check(table):
        return measure.summary(data, asked, answers, table)

    log(f"{len(train)} pairs, {len(table)} tokens, start: {check(table)}")
    taught = sparse.vstack([asked, answers], format="csr")[data.taught], data.taught_vectors.astype(np.float32)
    if options.regress_epochs:
        targets = unit((taught[1] - taught[1].mean(0)) @ rotation)
        regress(table, taught[0], targets, options, log)
        log(f"after regression: {check(table)}")
    if options.epochs:
        contrast(table, asked[train], answers[train], data.packages[train], taught, options, log, check)
    rows, scales = quantised(table)
    log(f"int8: {check(rows * scales[:, None])}")
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
        np.savez(options.out / f"{options.label}.npz", rows=rows, scales=scales, power=options.power)


def pca(rows):
    centred = rows - rows.mean(0)
    values, vectors = np.linalg.eigh(centred.T @ centred)
    order = np.argsort(-values)
    return values[order], vectors[:, order].astype(np.float32)


if __name__ == "__main__":
    main()
