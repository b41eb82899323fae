# The references to definitions of a folder, by a language server: clangd, rust-analyzer, pyright.
# usage: lsp_references.py FOLDER COUNT SEED LANGUAGE EXTENSIONS COMMAND…   (EXTENSIONS separated by commas)
# Prints the files that the server reads without generated ones, which are not indexed, {files: […], unread: {file: [line, …]}}, then one JSON object a line: {name, kind, file, line, column, references:
# [[file, line, column], …]}, columns in code points from 1. Members of types have the kinds `method` and `field`.
import json
import os
import pathlib
import random
import subprocess
import sys
import threading
import urllib.parse

folder, count, seed, language, extensions, *command = sys.argv[1:]
root = pathlib.Path(folder).resolve()
KINDS = {5: "type", 10: "type", 11: "type", 23: "type", 26: "type", 12: "function", 13: "value", 14: "value", 22: "value", 6: "method", 9: "method", 7: "field", 8: "field"}
CONTAINERS = {2, 3, 4, 5, 10, 11, 19, 23}


class Server:
    def __init__(self):
        self.process = subprocess.Popen(command, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.number = 0
        self.answers = {}
        self.inactive = {}
        self.failed = {}
        self.arrived = threading.Condition()
        self.busy = set()
        self.quiescent = threading.Event()
        threading.Thread(target=self.read, daemon=True).start()

    def send(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.process.stdin.flush()

    def read(self):
        while True:
            length = 0
            while (line := self.process.stdout.readline().strip()):
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            if not length:
                print("the server ended", file=sys.stderr)
                os._exit(1)
            message = json.loads(self.process.stdout.read(length))
            method = message.get("method")
            if method and "id" in message:
                items = message.get("params", {}).get("items", []) if method == "workspace/configuration" else None
                self.send({"id": message["id"], "result": [{} for _ in items] if items is not None else None})
            elif method == "textDocument/inactiveRegions":
                with self.arrived:
                    self.inactive[message["params"]["textDocument"]["uri"]] = message["params"]["regions"]
                    self.arrived.notify_all()
            elif method == "textDocument/publishDiagnostics":
                with self.arrived:
                    self.failed[message["params"]["uri"]] = any(one.get("severity") == 1 for one in message["params"]["diagnostics"])
                    self.arrived.notify_all()
            elif method == "experimental/serverStatus" and message["params"]["quiescent"]:
                self.quiescent.set()
            elif method == "$/progress":
                token, value = message["params"]["token"], message["params"]["value"]
                with self.arrived:
                    (self.busy.add if value["kind"] == "begin" else self.busy.discard)(token) if value["kind"] != "report" else None
                    self.arrived.notify_all()
            elif method is None:
                with self.arrived:
                    self.answers[message["id"]] = message
                    self.arrived.notify_all()

    def ask(self, method, params):
        self.number += 1
        self.send({"id": self.number, "method": method, "params": params})
        with self.arrived:
            if not self.arrived.wait_for(lambda: self.number in self.answers, timeout=600):
                raise SystemExit(f"no answer to {method}")
            return self.answers.pop(self.number).get("result")

    def settle(self):
        # Indexing in the background begins a while after the first file is opened.
        if "rust-analyzer" in command[0]:
            self.quiescent.wait(600)
            return
        with self.arrived:
            self.arrived.wait_for(lambda: self.busy, timeout=5)
            self.arrived.wait_for(lambda: not self.busy, timeout=600)


files = sorted(p for p in root.rglob("*") if p.is_file() and p.suffix[1:] in extensions.split(",") and not {"target", ".git", "node_modules"} & set(p.relative_to(root).parts))
files = [p for p in files if "generated" not in p.read_text(encoding="utf-8", errors="replace")[:1000].lower()]
texts = {p: p.read_text(encoding="utf-8", errors="replace").split("\n") for p in files}


def position(path, at):
    # Servers count in UTF-16.
    line = texts[path][at["line"]].encode("utf-16-le")[: 2 * at["character"]]
    return [str(path.relative_to(root)), at["line"] + 1, len(line.decode("utf-16-le", "replace")) + 1]


server = Server()
capabilities = {"textDocument": {"documentSymbol": {"hierarchicalDocumentSymbolSupport": True, "symbolKind": {"valueSet": list(range(1, 27))}}, "inactiveRegionsCapabilities": {"inactiveRegions": True}}, "window": {"workDoneProgress": True}, "experimental": {"serverStatusNotification": True}, "workspace": {"configuration": True}}
options = {"cachePriming": {"enable": False}, "checkOnSave": False, "cargo": {"features": "all", "buildScripts": {"enable": False}}, "procMacro": {"enable": False}}
server.ask("initialize", {"processId": os.getpid(), "rootUri": root.as_uri(), "workspaceFolders": [{"uri": root.as_uri(), "name": root.name}], "capabilities": capabilities, "initializationOptions": options})
server.send({"method": "initialized", "params": {}})


def switch(method, path):
    document = {"uri": path.as_uri()}
    if method == "didOpen":
        document |= {"languageId": language, "version": 1, "text": "\n".join(texts[path])}
    server.send({"method": f"textDocument/{method}", "params": {"textDocument": document}})


definitions = []


def same_type(path, name):
    # A struct and the `typedef` of its name are one to the reader.
    def is_same(other):
        return other[2:] == (name, "type") and (other[0] == path or ".h" in (path.suffix, other[0].suffix))

    same = [other for other in definitions if is_same(other)]
    is_typedef = any(texts[other[0]][other[1]["line"]].lstrip().startswith("typedef") for other in same)
    return same if language == "c" or (language == "cpp" and is_typedef) else []


def visit(path, symbols, container):
    for symbol in symbols:
        kind = KINDS.get(symbol["kind"])
        # The name itself: servers give variants, operators and impl blocks others.
        at = symbol["selectionRange"]["start"]
        name = symbol["name"].split("(")[0].split("::")[-1]
        line = texts[path][at["line"]].encode("utf-16-le")
        is_name = name.isidentifier() and line[2 * at["character"]:].decode("utf-16-le", "replace").startswith(name)
        in_type = container in {5, 11, 19, 23}
        if kind and in_type and kind in ("function", "value"):
            kind = {"function": "method", "value": "field"}[kind]
        if kind and is_name:
            definitions.append((path, at, name, kind))
        if symbol["kind"] in CONTAINERS:
            visit(path, symbol.get("children") or [], symbol["kind"])


# What clangd does not report: branches that are left out, bodies of macros, whose names it finds where they are expanded, and
# parts of files that it cannot read on their own.
unread = {}
for path in files:
    switch("didOpen", path)
    symbols = server.ask("textDocument/documentSymbol", {"textDocument": {"uri": path.as_uri()}}) or []
    lines = set()
    if language in ("c", "cpp"):
        with server.arrived:
            server.arrived.wait_for(lambda: path.as_uri() in server.failed, timeout=30)
            server.arrived.wait_for(lambda: path.as_uri() in server.inactive, timeout=4)
        if server.failed.get(path.as_uri(), True):
            print(f"{path} has errors on its own, and is not measured", file=sys.stderr)
            switch("didClose", path)
            continue
        for region in server.inactive.get(path.as_uri(), []):
            lines.update(range(region["start"]["line"] + 1, region["end"]["line"] + 2))
        in_macro = False
        for number, line in enumerate(texts[path], 1):
            if in_macro or line.lstrip().startswith("#") and line.lstrip("# \t").startswith("define"):
                lines.add(number)
                in_macro = line.rstrip().endswith("\\")
        switch("didClose", path)
    visit(path, symbols, None)
    unread[str(path.relative_to(root))] = sorted(lines)
server.settle()
print(json.dumps({"files": list(unread), "unread": unread}), flush=True)
random.Random(int(seed)).shuffle(definitions)
for path, at, name, kind in definitions[: int(count)]:
    same = (same_type(path, name) if kind == "type" else []) or [(path, at)]
    opened = {one[0] for one in same} if language in ("c", "cpp") else set()
    for one in opened:
        switch("didOpen", one)
    asked = [{"textDocument": {"uri": one[0].as_uri()}, "position": one[1], "context": {"includeDeclaration": True}} for one in same]
    found = []
    line = texts[path][at["line"]] if path in texts else ""
    # Other names are aliases, or `Self`: findings/rust-analyzer-self-of-another-type.sh.
    has_aliases = language not in ("c", "cpp") and not (language == "rust" and f"type {name}" in line)
    for one in [one for question in asked for one in server.ask("textDocument/references", question) or []]:
        where = pathlib.Path(urllib.parse.unquote(urllib.parse.urlparse(one["uri"]).path))
        start = one["range"]["start"]
        is_name = where in texts and texts[where][start["line"]].encode("utf-16-le")[2 * start["character"]:].decode("utf-16-le", "replace").startswith(name)
        if is_name or (where in texts and has_aliases):
            found.append(position(where, start))
    for one in opened:
        switch("didClose", one)
    file, line, column = position(path, at)
    print(json.dumps({"name": name, "kind": kind, "file": file, "line": line, "column": column, "references": found}), flush=True)
sys.stdout.flush()
os._exit(0)
