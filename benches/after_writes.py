#!/usr/bin/env python3
"""How long reads take that follow a write: `benches/after_writes.py PROGRAM TREE [ROUNDS [CLIENTS]]`.

Works on a copy of TREE. Each client writes, replaces, moves or removes a file or a folder, and at once asks for a name in it, by an
exact search, a ranked search or `get_symbol`: first for one that must be found, then for one that must be gone. Prints the latencies by
kind of change and by kind of read, in milliseconds, and exits with 1 if an answer is stale.
"""

import collections
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time

import mcp_client

KINDS = ["new file", "new folders", "overwritten", "replaced", "moved folder", "folder again"]


class Client(mcp_client.Client):
    """A connection, and a folder of its own to change."""

    def __init__(self, program, repository, environment, number):
        super().__init__(program, ["mcp"], repository, environment)
        self.number = number
        self.folder = repository / f"client{number}"
        self.folder.mkdir()
        self.call("stats", {})

    def change(self, kind, text, number):
        """Makes a change after which `text` is in a file. Returns what to remove, and the file."""
        folder = {
            "new folders": self.folder / f"folder_{number}" / "deep" / "er",
            "moved folder": self.folder / f"old_{number}" / "below",
            "folder again": self.folder / "again",
        }.get(kind, self.folder)
        if kind == "folder again":
            shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True, exist_ok=True)
        name = "kept.py" if kind in ("overwritten", "replaced") else f"new_{number}.py"
        file = folder / name
        if kind == "replaced":
            (folder / "kept.py.tmp").write_text(text)
            (folder / "kept.py.tmp").rename(file)
            return file, file
        file.write_text(text)
        if kind == "moved folder":
            moved = self.folder / f"moved_{number}"
            folder.parent.rename(moved)
            return moved, moved / "below" / name
        return {"new folders": self.folder / f"folder_{number}", "folder again": folder}.get(kind, file), file

    def run(self, rounds, times, stale):
        chance = random.Random(self.number)
        for number in range(rounds):
            token = f"fresh_{self.number}_{number}"
            kind = chance.choice(KINDS)
            there, file = self.change(kind, f"def {token}():\n    return {number}\n", number)
            self.read(chance, token, kind, True, times, stale)
            if chance.random() < 0.5:
                kind = "removed folder" if there.is_dir() else "removed file"
                shutil.rmtree(there) if there.is_dir() else there.unlink()
            else:
                kind = "name removed"
                file.write_text("nothing = 0\n")
            self.read(chance, token, kind, False, times, stale)
        self.process.stdin.close()
        self.process.wait()

    def read(self, chance, token, kind, is_there, times, stale):
        read, tool, arguments = chance.choice([
            ("exact", "query", {"text": token, "mode": "literal"}),
            ("ranked", "query", {"text": token}),
            ("get_symbol", "get_symbol", {"symbol_name": token}),
        ])
        begun = time.perf_counter()
        answer = self.call(tool, arguments)["structuredContent"]
        took = (time.perf_counter() - begun) * 1000
        hits = answer.get("results", answer.get("symbols", []))
        # A ranked search also returns similar names.
        if any(token in json.dumps(hit) for hit in hits) != is_there:
            stale.append(f"{kind}, {read}: {token}")
        for key in ("all", kind, read, f"{read}, {'there' if is_there else 'gone'}"):
            times[key].append(took)


def main():
    program, tree = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    rounds, clients = (int(text) for text in (sys.argv[3:5] + ["300", "1"][len(sys.argv) - 3:]))
    with tempfile.TemporaryDirectory() as base:
        base = pathlib.Path(base)
        repository = base / "repository"
        shutil.copytree(tree, repository, symlinks=True)
        subprocess.run(["git", "init", "--quiet", repository], check=True)
        environment = os.environ | {"HOME": str(base / "home"), "XDG_RUNTIME_DIR": str(base / "run")}
        for name in ("home", "run"):
            (base / name).mkdir(mode=0o700)
        subprocess.run([program, "sync"], cwd=repository, env=environment, check=True, stdout=subprocess.DEVNULL)
        times, stale = collections.defaultdict(list), []
        all_clients = [Client(program, repository, environment, number) for number in range(clients)]
        threads = [threading.Thread(target=client.run, args=(rounds, times, stale)) for client in all_clients]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        subprocess.run([program, "daemon", "stop"], cwd=repository, env=environment, check=True, stdout=subprocess.DEVNULL)
    for key in sorted(times):
        taken = sorted(times[key])
        quantile = lambda percent: taken[(len(taken) - 1) * percent // 100]
        print(f"{key:<18} {len(taken):>5} reads  p50 {quantile(50):6.1f}  p95 {quantile(95):6.1f}  highest {taken[-1]:6.1f}")
    for one in stale:
        print(f"stale: {one}")
    sys.exit(bool(stale))


main()
