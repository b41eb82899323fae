#!/usr/bin/env python3
"""What history costs a ranked search, and how long `get_symbol` with `history` takes: `benches/history_latency.py PROGRAM CLONE [ROUNDS]`.

CLONE has its whole history. Works on a copy of it and on one with the last commit alone. Asks both for the subjects of CLONE's last
commits in turns, then the first for functions that are defined once, with their history. Prints latencies in milliseconds.
"""

import collections
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

QUERIES, FUNCTIONS = 150, 100


class Client:
    """A server of its own for a clone, whose index is complete."""

    def __init__(self, program, clone, environment):
        subprocess.run([program, "sync"], cwd=clone, env=environment, check=True, stdout=subprocess.DEVNULL)
        self.process = subprocess.Popen(
            [program, "mcp", "--no-daemon"], cwd=clone, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self.last = 0
        client = {"name": "history_latency", "version": "1"}
        self.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client})

    def ask(self, method, params):
        self.last += 1
        request = {"jsonrpc": "2.0", "id": self.last, "method": method, "params": params}
        self.process.stdin.write((json.dumps(request) + "\n").encode())
        self.process.stdin.flush()
        while True:
            reply = json.loads(self.process.stdout.readline())
            if reply.get("id") == self.last:
                if "error" in reply:
                    sys.exit(f"{params}: {reply['error']['message']}")
                return reply["result"]

    def time(self, tool, arguments):
        begun = time.perf_counter()
        self.ask("tools/call", {"name": tool, "arguments": arguments})
        return (time.perf_counter() - begun) * 1000


def git(folder, *arguments):
    return subprocess.run(["git", "-C", folder, *arguments], check=True, capture_output=True, text=True).stdout


def report(what, taken):
    taken = sorted(taken)
    print(f"{what:<28} {len(taken):>5}  p50 {statistics.median(taken):6.2f}  p95 {taken[(len(taken) - 1) * 95 // 100]:6.2f}")


def main():
    program, clone = (pathlib.Path(text).resolve() for text in sys.argv[1:3])
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 3
    with tempfile.TemporaryDirectory() as base:
        base = pathlib.Path(base)
        environment = os.environ | {"HOME": str(base / "home"), "XDG_RUNTIME_DIR": str(base / "run")}
        for name in ("home", "run"):
            (base / name).mkdir(mode=0o700)
        git(base, "clone", "--quiet", clone.as_uri(), base / "whole")
        git(base, "clone", "--quiet", "--depth", "1", clone.as_uri(), base / "last")
        with_history, without = (Client(program, base / name, environment) for name in ("whole", "last"))

        subjects = git(clone, "log", "-n", str(3 * QUERIES), "--format=%s").splitlines()
        queries = [subject for subject in subjects if len(subject.split()) > 2][:QUERIES]
        times = {with_history: [], without: []}
        for number in range(rounds + 1):
            for query in queries:
                for client, taken in times.items():
                    took = client.time("query", {"text": query})
                    if number > 0:
                        taken.append(took)
        report("query with history", times[with_history])
        report("query without", times[without])
        print(f"difference of the medians: {statistics.median(times[with_history]) - statistics.median(times[without]):.2f}")

        names = collections.Counter()
        for file in git(clone, "ls-files", "*.py", "*.js", "*.rs", "*.go").splitlines():
            text = (clone / file).read_text(errors="replace")
            names.update(re.findall(r"^\s*(?:pub )?(?:async )?(?:def|fn|function|func) (\w+)", text, re.M))
        functions = [name for name, count in names.items() if count == 1][:FUNCTIONS]
        report("get_symbol with history", [with_history.time("get_symbol", {"symbol_name": name, "history": True}) for name in functions])


main()
