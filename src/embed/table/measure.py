"""Evaluates a table: ranks all answers of a package for the queries of packages that it was not trained on.

Each package of the validation split is a set for code and one for prose: at most 200 queries, at most 1,000 answers.
"""

import collections
import json
import pathlib
import re
import sqlite3

import numpy as np
import scipy.sparse as sparse

CODE = ("comment", "file", "test")
PROSE = ("heading", "sentence")
# Function words of a query.
STOP = set("a an the of to in for and or is are be by on with from this that it its as at if not no can will when which".split())


class Data:
    def __init__(self, folder):
        folder = pathlib.Path(folder)
        stored = np.load(folder / "data.npz", allow_pickle=False)
        self.kinds, self.packages = stored["kinds"], stored["packages"]
        self.train = np.flatnonzero(stored["split"] == "train")
        self.validation = np.flatnonzero(stored["split"] == "validation")
        self.asked = sparse.load_npz(folder / "asked.npz").tocsr()
        self.answers = sparse.load_npz(folder / "answers.npz").tocsr()
        self.of_tokens = np.load(folder / "of_tokens.npy").astype(np.float32)
        taught = np.load(folder / "taught.npz")
        self.taught, self.taught_vectors = taught["rows"], taught["vectors"]
        self.tokens = json.loads((folder / "tokens.json").read_text())
        self.sets = self._sets()
        self.words = np.load(folder / "bm25.npz") if (folder / "bm25.npz").exists() else None

    def _sets(self):
        found = []
        for package in sorted(set(self.packages[self.validation])):
            for label, kinds in (("code", CODE), ("prose", PROSE)):
                rows = self.validation[(self.packages[self.validation] == package) & np.isin(self.kinds[self.validation], kinds)]
                if len(rows) >= 60:
                    rows = rows[:1000]
                    asked = rows[:: max(1, len(rows) // 200)][:200]
                    found.append((f"{package.split('/')[1]}-{label}", label, asked, rows))
        return found


def unit(rows):
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)


def gains(scores, asked, rows):
    """NDCG@10 and reciprocal rank of each question; one answer is right."""
    right = np.searchsorted(rows, asked)
    own = scores[np.arange(len(asked)), right]
    rank = (scores > own[:, None]).sum(1) + ((scores == own[:, None]).sum(1) - 1) // 2
    return np.where(rank < 10, 1 / np.log2(rank + 2), 0), np.where(rank < 10, 1 / (rank + 1), 0)


def ranks(scores):
    return np.argsort(np.argsort(-scores, axis=1, kind="stable"), axis=1, kind="stable")


def dense_scores(asked, answers, table, questions, rows):
    return unit(asked[questions] @ table) @ unit(answers[rows] @ table).T


def fused(lexical, dense, weight):
    """Reciprocal ranks, added; what the words do not find has no lexical rank."""
    of_words = np.where(lexical > 0, 1 / (60 + ranks(lexical)), 0)
    return of_words + weight / (60 + ranks(dense)) + 1e-9 * dense


def table_of(data, asked, answers, table, weight=0.5):
    """(set, kind of set, measure -> gains a question)"""
    for name, label, questions, rows in data.sets:
        dense = dense_scores(asked, answers, table, questions, rows)
        result = {"dense": gains(dense, questions, rows)}
        if data.words is not None:
            lexical = data.words[name]
            result["words"] = gains(lexical, questions, rows)
            result["both"] = gains(fused(lexical, dense, weight), questions, rows)
        yield name, label, result


def summary(data, asked, answers, table):
    by_label = collections.defaultdict(list)
    for _, label, result in table_of(data, asked, answers, table):
        for arm, (ndcg, _) in result.items():
            by_label[label, arm].append(ndcg.mean())
    return ", ".join(f"{label} {arm} {np.mean(values):.4f}" for (label, arm), values in sorted(by_label.items()))


def bm25(questions, answers):
    """Scores by SQLite's FTS5 with stemming over text and parts of identifiers, any word of the question."""
    from tokens import words

    database = sqlite3.connect(":memory:")
    database.execute("create virtual table t using fts5 (body, parts, tokenize = 'porter unicode61')")
    database.executemany("insert into t (rowid, body, parts) values (?, ?, ?)", [(at + 1, text, " ".join(words(text))) for at, text in enumerate(answers)])
    scores = np.zeros((len(questions), len(answers)), np.float32)
    for at, question in enumerate(questions):
        asked = [word for word in dict.fromkeys(re.findall(r"\w+", question.lower()) + words(question)) if word not in STOP]
        if asked:
            query = " OR ".join(f'"{word}"' for word in asked)
            for row, rank in database.execute("select rowid, bm25(t, 1.0, 0.5) from t where t match ?", (query,)):
                scores[at, row - 1] = -rank
    return scores
