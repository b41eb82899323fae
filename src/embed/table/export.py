"""Writes the files that the program compiles in, and reference vectors for its tests.

    export.py DATA TRAINED.npz
"""

import json
import pathlib
import random
import re
import struct
import sys

import numpy as np
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import WhitespaceSplit

import tokens
from fetch import HERE

# Texts whose vectors `built_in.rs` is held to: identifiers, accents, other scripts, digests, nothing.
REFERENCES = [
    "read a file line by line",
    "fn parse_header(bytes: &[u8]) -> Result<Header> { Header::from_slice(bytes) }",
    "class HTTPServer2(BaseServer):\n    def getUserById(self, user_id): return self.users[user_id]",
    "retry the request with exponential backoff",
    "Größe, café, naïve, İstanbul, Ǆ, ΣΑΣ",
    "日本語 text with 漢字 in it, и кириллица",
    "d41d8cd98f00b204e9800998ecf8427e QWxhZGRpbjpvcGVuIHNlc2FtZQ 0xdeadbeef 3.14159 2026",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa supercalifragilisticexpialidocious",
    "\t\u0000\u200b ¼ ½ ٣ x² e\u0301 ﬁ",
    "",
    "!!! --- ???",
    "the the the the the the the the the cat",
]


# What random texts are put together of: what meets in source files, and what should not.
PIECES = [
    "get", "User", "ID", "HTTP", "parse", "unmarshalling", "kubernetes", "xyzzyq", "2048", "0x1f", "_", "__", "-", ".", " ",
    "\n", "\t", "(", "é", "e\u0301", "ß", "İ", "Σ", "ς", "Ǆ", "ﬁ", "½", "٣", "漢字", "ключ", "한글", "\u200b", "\0", "🦀", "q", "Z",
    "antidisestablishmentarianism", "a" * 43, "ª", "ⅷ", "ÄpfelBaum", "readLine", "stdErr", "mutexes", "JSON5",
]


def tokenized(names):
    """Random texts, and what the tokenizers package makes of their words."""
    ids = {name: at for at, name in enumerate([*names, "[UNK]"])}
    tokenizer = Tokenizer(WordPiece(ids, unk_token="[UNK]", max_input_chars_per_word=tokens.LONGEST_WORD))
    tokenizer.normalizer = BertNormalizer(clean_text=True, handle_chinese_chars=False, strip_accents=True, lowercase=True)
    tokenizer.pre_tokenizer = WhitespaceSplit()
    choice = random.Random(5)
    for _ in range(2500):
        parts = [choice.choice(PIECES) if choice.random() < 0.7 else choice.choice(names).removeprefix("##") for _ in range(choice.randint(1, 9))]
        text = "".join(parts)
        split = " ".join(part for run in re.findall(r"\w+", text) for part in tokens.parts(run))
        found = [at for at in tokenizer.encode(split, add_special_tokens=False).ids if at != len(names)]
        yield json.dumps([text, found], ensure_ascii=False)


def main():
    folder, trained = pathlib.Path(sys.argv[1]), np.load(sys.argv[2])
    names = json.loads((folder / "tokens.json").read_text())
    kept = [at for at, name in enumerate(names) if name.isascii()]
    rows, scales = trained["rows"][kept], trained["scales"][kept].astype("<f4")
    names = [names[at] for at in kept]
    # A sum's length says nothing: the scales may as well be of a size that is easy to read.
    scales /= scales.max()
    head = struct.pack("<II", *rows.shape)
    (HERE / "table.bin").write_bytes(head + scales.tobytes() + rows.tobytes())
    (HERE / "vocabulary.txt").write_text("".join(name + "\n" for name in names))
    vocabulary = tokens.Vocabulary(names)
    lines = []
    for text in REFERENCES:
        found, counts = np.unique(np.array(vocabulary.of_text(text), int), return_counts=True)
        sum_ = (np.sqrt(counts)[:, None] * scales[found][:, None] * rows[found].astype(np.float32)).sum(0)
        length = np.linalg.norm(sum_)
        vector = sum_ / length if length else np.zeros(rows.shape[1])
        lines.append(json.dumps({"text": text, "tokens": vocabulary.of_text(text), "vector": [round(float(x), 5) for x in vector]}))
    (HERE / "references.jsonl").write_text("\n".join(lines) + "\n")
    (HERE / "tokenized.jsonl").write_text("\n".join(tokenized(names)) + "\n")
    print(rows.shape, sum(path.stat().st_size for path in HERE.glob("*") if path.suffix in (".bin", ".txt")))


main()
