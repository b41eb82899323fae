"""Tokenizes texts as `src/embed/wordpiece.rs` does: splits identifiers into words, lowercases them, removes accents, and applies
WordPiece. Also chooses the vocabulary.
"""

import collections
import functools
import math
import re
import unicodedata

from tokenizers import Tokenizer

LONGEST_WORD = 40
FAST = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")


def is_numeric(c):
    return unicodedata.category(c) in ("Nd", "Nl", "No")


def is_alphanumeric(c):
    return c.isalpha() or is_numeric(c)


def parts(identifier):
    """`words::parts`, character by character."""
    found, word = [], ""
    for at, c in enumerate(identifier):
        if not is_alphanumeric(c):
            found.append(word)
            word = ""
            continue
        before, after = word[-1:], identifier[at + 1 : at + 2]
        turns = before and (
            is_numeric(before) != is_numeric(c)
            or (before.islower() and c.isupper())
            or (before.isupper() and c.isupper() and after.islower())
        )
        if turns:
            found.append(word)
            word = ""
        word += c
    found.append(word)
    return [word for word in found if word]


def plain(word):
    """Small letters without accents; what is no ASCII then is in no vocabulary."""
    base = (c for c in unicodedata.normalize("NFD", word) if not unicodedata.category(c).startswith("M"))
    return "".join(c.lower() for c in base)


def words(text):
    if text.isascii():
        return [word.lower() for word in FAST.findall(text)]
    found = []
    for run in re.findall(r"[^\s!-/:-@\[-^`{-~]+", text):
        found += FAST.findall(run) if run.isascii() else parts(run)
    return [plain(word) for word in found]


class Vocabulary:
    def __init__(self, tokens):
        self.tokens = tokens
        self.ids = {token: at for at, token in enumerate(tokens)}
        self.of_word = functools.cache(self._of_word)

    def _of_word(self, word):
        """Longest piece first; a word of which any rest is unknown has no tokens."""
        if len(word) > LONGEST_WORD:
            return ()
        found, start = [], 0
        while start < len(word):
            for end in range(len(word), start, -1):
                token = self.ids.get(("##" if start else "") + word[start:end])
                if token is not None:
                    break
            else:
                return ()
            found.append(token)
            start = end
        return tuple(found)

    def of_text(self, text):
        of_word = self.of_word
        return [token for word in words(text) for token in of_word(word)]


def bert_tokens(file):
    vocabulary = Tokenizer.from_file(str(file)).get_vocab()
    tokens = sorted(vocabulary, key=vocabulary.get)
    return [token for token in tokens if not token.startswith("[") and is_alphanumeric(token.removeprefix("##")[0])]


def often_used(texts, known, count):
    """The words of letters that most texts have and that are not known."""
    texts_with = collections.Counter()
    for text in texts:
        texts_with.update(set(words(text)))
    new = [word for word in texts_with if word not in known and word.isascii() and word.isalpha() and 2 < len(word) <= 20]
    return sorted(new, key=lambda word: (-texts_with[word], word))[:count]


def choose(texts_by_package, bert, size, everyday, more, pieces=4000):
    """Words that many packages use, BERT's pieces that the other words are made of, and `more` words that everyday
    texts use most.

    A word counts by the packages that it is in, and by how often: words of one package are of no use to the next.
    """
    packages, often = collections.Counter(), collections.Counter()
    for texts in texts_by_package.values():
        count = collections.Counter()
        for text in texts:
            count.update(words(text))
        packages.update(count.keys())
        often.update({word: min(times, 200) for word, times in count.items()})
    letters = [chr(c) for c in range(ord("a"), ord("z") + 1)] + [str(d) for d in range(10)]
    chosen = set(letters) | {"##" + c for c in letters}
    known = {token for token in bert if not token.startswith("##") and token.isascii() and len(token) > 2}
    # The teacher knows its own words well: they come in a little earlier.
    score = {
        word: math.log(1 + packages[word]) * 2 + math.log(1 + often[word]) + (1.5 if word in known else 0)
        for word in often.keys() | known
        if word.isascii() and 1 < len(word) <= 20 and (not word.isdigit() or len(word) < 5)
    }
    ranked = sorted(score, key=lambda word: (-score[word], word))
    whole = ranked[: size - pieces - len(chosen)]
    rest = collections.Counter()
    splitter = Vocabulary(bert)
    taken = set(whole)
    for word in ranked[len(whole) :]:
        for token in splitter.of_word(word):
            if bert[token].startswith("##") and bert[token].isascii():
                rest[bert[token]] += math.log(1 + often[word])
            elif bert[token].isascii() and bert[token] not in taken:
                rest[bert[token]] += math.log(1 + often[word])
    chosen |= taken
    for token in sorted(rest, key=lambda token: (-rest[token], token)):
        if len(chosen) >= size:
            break
        chosen.add(token)
    chosen |= set(often_used(everyday, chosen, more))
    return sorted(chosen, key=lambda token: (token.startswith("##"), token))
