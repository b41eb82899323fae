#!/usr/bin/env bash
# The Python SDK of MCP sends `tools/list` on its own after a call, and never learns of tools that are not on the first page.
#
# Guess: `call_tool` sends one request. What a client checks results against it has from the lists that the program asked for.
# What happens: after a call of a tool whose schema it does not know, the SDK lists tools to check the result. It ignores
# `nextCursor`: a tool on the second page stays unknown, so that each of its calls is followed by another list, and its results
# are never checked. Those of a tool on the first page are.
# Tool: mcp 2.3.0 (PyPI); 1.30.0 does the same.
# Seen on 2026-11-27, for a server with a page for each of two tools:
#   first, right, then wrong: tools/call, tools/list, tools/call; result, RuntimeError
#   second, right, then wrong: tools/call, tools/list, tools/call, tools/list; result, result
# In ixmcp: the list of tools has one page, whatever its length (`list_tools` in src/serve/mcp.rs).
set -euo pipefail
self=$(realpath "$0") work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

python3 -m venv venv &&
    venv/bin/pip install -q --disable-pip-version-check mcp==2.3.0 ||
    { echo 'the packages cannot be installed'; exit 2; }
cat >server.py <<'PY'
import json
import sys

SCHEMA = {"type": "object", "properties": {"number": {"type": "integer"}}, "required": ["number"]}
TOOLS = [{"name": name, "inputSchema": {"type": "object"}, "outputSchema": SCHEMA} for name in ("first", "second")]
for line in sys.stdin:
    message = json.loads(line)
    method, parameters = message["method"], message.get("params") or {}
    if "id" not in message:
        continue
    if method.startswith("tools/"):
        print(method, file=sys.stderr, flush=True)
    if method == "initialize":
        result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}
    elif method == "tools/list":
        result = {"tools": TOOLS[1:]} if parameters.get("cursor") else {"tools": TOOLS[:1], "nextCursor": "more"}
    else:
        result = {"content": [], "structuredContent": parameters["arguments"]}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
PY
cat >probe.py <<'PY'
import asyncio
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


async def show(tool):
    outcomes = []
    with open("methods", "w+") as methods:
        server = StdioServerParameters(command=sys.executable, args=["server.py"])
        async with stdio_client(server, errlog=methods) as (reader, writer), ClientSession(reader, writer) as session:
            await session.initialize()
            for number in (1, "one"):
                try:
                    await session.call_tool(tool, {"number": number})
                    outcomes.append("result")
                except Exception as error:
                    outcomes.append(type(error).__name__)
        methods.seek(0)
        sent = ", ".join(methods.read().split())
    print(f"{tool}, right, then wrong: {sent}; {', '.join(outcomes)}")


asyncio.run(show("first"))
asyncio.run(show("second"))
PY
timeout 120 venv/bin/python probe.py 2>log | tee seen
sed -n 's/^#   //p' "$self" | diff - seen && echo 'as recorded'
