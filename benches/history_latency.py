#!/usr/bin/env python3
"""Measures what history adds to a ranked search, and `get_symbol` with `history`: `benches/history_latency.py PROGRAM CLONE [ROUNDS]`.

CLONE needs its full history. Asks a full clone of it and a shallow one, in turn, for the subjects of its last commits. Then asks the
full one for functions that are defined once, with their history. Prints latencies in milliseconds.
"""

import collections
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

import mcp_client

QUERIES, FUNCTIONS = 150, 100


def start(program, clone, environment):
    """A server of its own for a clone, whose index is complete."""
    subprocess.run([program, "sync"], cwd=clone, env=environment, check=True, stdout=subprocess.DEVNULL)
    return mcp_client.Client(program, ["mcp", "--no-daemon"], clone, environment)


def latency(client, tool, arguments):
    """Milliseconds of a call."""
    begun = time.perf_counter()
    client.call(tool, arguments)
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
        with_history, without = (start(program, base / name, environment) for name in ("whole", "last"))

        subjects = git(clone, "log", "-n", str(3 * QUERIES), "--format=%s").splitlines()
        queries = [subject for subject in subjects if len(subject.split()) > 2][:QUERIES]
        times = {with_history: [], without: []}
        for number in range(rounds + 1):
            for query in queries:
                for client, taken in times.items():
                    took = latency(client, "query", {"text": query})
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
        calls = [{"symbol_name": name, "history": True} for name in functions]
        report("get_symbol with history", [latency(with_history, "get_symbol", arguments) for arguments in calls])


main()
