"""Asks `ty server` where names are defined and used.

    python ty_server.py TY ROOT < PLACES

PLACES holds a JSON object {"file", "line", "column"} a line, 1-based, the file relative to ROOT. Prints one JSON object
{"definitions": [...], "references": [...]} for each: places as "file:line:column", files relative to ROOT where they lie in
it. Columns are code points, as ours.
"""

import json
import pathlib
import subprocess
import sys
import urllib.parse

TY, ROOT = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()


class Server:
    def __init__(self):
        self.process = subprocess.Popen([TY, "server"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT)
        self.number = 0
        folder = {"uri": ROOT.as_uri(), "name": ROOT.name}
        capabilities = {"general": {"positionEncodings": ["utf-32"]}}
        self.ask("initialize", {"processId": None, "rootUri": ROOT.as_uri(), "workspaceFolders": [folder], "capabilities": capabilities})
        self.send({"method": "initialized", "params": {}})
        self.opened = set()

    def send(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def receive(self):
        length = 0
        while line := self.process.stdout.readline().strip():
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        return json.loads(self.process.stdout.read(length))

    def ask(self, method, params):
        self.number += 1
        self.send({"id": self.number, "method": method, "params": params})
        while True:
            message = self.receive()
            if "method" in message and "id" in message:
                # It asks for settings and the like: there are none.
                items = message.get("params", {}).get("items", []) if message["method"] == "workspace/configuration" else None
                self.send({"id": message["id"], "result": [None for _ in items] if items is not None else None})
            elif message.get("id") == self.number:
                return message.get("result")

    def open(self, path):
        if path not in self.opened:
            self.opened.add(path)
            text = path.read_text(encoding="utf-8")
            document = {"uri": path.as_uri(), "languageId": "python", "version": 1, "text": text}
            self.send({"method": "textDocument/didOpen", "params": {"textDocument": document}})


def shown(location):
    uri = location.get("targetUri") or location["uri"]
    span = location.get("targetSelectionRange") or location["range"]
    path = pathlib.Path(urllib.parse.unquote(urllib.parse.urlparse(uri).path))
    name = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
    return f"{name}:{span['start']['line'] + 1}:{span['start']['character'] + 1}"


server = Server()
for line in sys.stdin:
    place = json.loads(line)
    path = ROOT / place["file"]
    server.open(path)
    position = {"line": place["line"] - 1, "character": place["column"] - 1}
    at = {"textDocument": {"uri": path.as_uri()}, "position": position}
    definitions = server.ask("textDocument/definition", at) or []
    references = server.ask("textDocument/references", {**at, "context": {"includeDeclaration": True}}) or []
    definitions = definitions if isinstance(definitions, list) else [definitions]
    print(json.dumps({"definitions": [shown(one) for one in definitions], "references": [shown(one) for one in references]}), flush=True)
