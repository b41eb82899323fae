#!/usr/bin/env bash
# rust-analyzer's references to an associated type include `Self` in the blocks of the type that it stands for.
#
# Guess: references to `type Load = Crate;` are where `Load` is written.
# What happens: each `Self` of `impl Crate` is listed, too, as if it named the associated type.
# Tool: rust-analyzer 1.95.0 (component of rustup's toolchain 1.95.0).
# Seen on 2026-11-29:
#   3:25 pub trait Hauled { type Load; }
#   4:30 impl Hauled for Winch { type Load = Crate; }
#   5:30 impl Crate { pub fn new() -> Self { Crate } }
# In ixmcp: only the name is a reference; tests/authorities/lsp_references.py leaves such positions out.
set -euo pipefail
self=$(realpath "$0") work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

rustup -q toolchain install 1.95.0 --profile minimal --component rust-analyzer --component rust-src --no-self-update >/dev/null 2>&1 ||
    { echo 'the toolchain cannot be installed'; exit 2; }
mkdir -p tree/src
printf '[package]\nname = "tree"\nedition = "2024"\n[workspace]\n' >tree/Cargo.toml
cat >tree/src/lib.rs <<'RUST'
pub struct Crate;
pub struct Winch;
pub trait Hauled { type Load; }
impl Hauled for Winch { type Load = Crate; }
impl Crate { pub fn new() -> Self { Crate } }
RUST
cat >ask.py <<'PYTHON'
import json
import pathlib
import subprocess
import time

path = pathlib.Path("tree/src/lib.rs").resolve()
root = path.parent.parent
text = path.read_text()
command = ["rustup", "run", "1.95.0", "rust-analyzer"]
server = subprocess.Popen(command, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)


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
        if "method" in message and "id" in message:
            send({"id": message["id"], "result": None})
        elif message.get("id") == number and "method" not in message:
            return message.get("result")


document = {"uri": path.as_uri()}
send({"id": 1, "method": "initialize", "params": {"processId": None, "rootUri": root.as_uri(), "capabilities": {}}})
answer(1)
send({"method": "initialized", "params": {}})
opened = {**document, "languageId": "rust", "version": 1, "text": text}
send({"method": "textDocument/didOpen", "params": {"textDocument": opened}})
position = {"line": 3, "character": text.splitlines()[3].index("Load")}
asked = {"textDocument": document, "position": position, "context": {"includeDeclaration": True}}
# The crate is loaded in the background.
before = None
for number in range(2, 60):
    time.sleep(1)
    send({"id": number, "method": "textDocument/references", "params": asked})
    found = sorted((one["range"]["start"]["line"], one["range"]["start"]["character"]) for one in answer(number) or [])
    if found and found == before:
        break
    before = found
for line, column in found:
    print(f"{line + 1}:{column + 1} {text.splitlines()[line]}")
server.kill()
PYTHON
python3 ask.py | tee "$work/seen"
sed -n 's/^#   //p' "$self" | diff - "$work/seen" && echo 'as recorded'
