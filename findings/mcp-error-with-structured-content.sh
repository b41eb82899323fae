#!/usr/bin/env bash
# A client of the TypeScript SDK of MCP loses a tool's error if the error has structured content that is not the tool's result.
#
# Guess: a result with `isError` is not checked against the output schema, which describes results; an error may have fields of
# its own in `structuredContent`.
# What happens: the TypeScript SDK checks all structured content once it has listed the tool. `callTool` throws an error of the
# protocol about the schema, and neither the program nor the model sees what the tool said. Without structured content the same
# error arrives. The Python SDK does not check errors.
# Tool: @modelcontextprotocol/sdk 1.32.2 (npm), mcp 2.3.0 (PyPI).
# Seen on 2026-11-27:
#   TypeScript, error with text: the file is gone
#   TypeScript, error with structured content: -32602
#   Python, error with text: the file is gone
#   Python, error with structured content: the file is gone
# In ixmcp: an error is text alone (`call_result` in src/serve/mcp.rs).
set -euo pipefail
self=$(realpath "$0") work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

python3 -m venv venv &&
    venv/bin/pip install -q --disable-pip-version-check mcp==2.3.0 ||
    { echo 'the packages cannot be installed'; exit 2; }
npm install --silent --no-fund --no-audit @modelcontextprotocol/sdk@1.32.2 ||
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
    if method == "initialize":
        result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}
    elif method == "tools/list":
        result = {"tools": TOOLS}
    else:
        result = {"content": [{"type": "text", "text": "the file is gone"}], "isError": True}
        if parameters["arguments"]["structured"]:
            result["structuredContent"] = {"kind": "NOT_FOUND"}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
PY
cat >probe.mjs <<'JS'
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const client = new Client({ name: "c", version: "1" });
await client.connect(new StdioClientTransport({ command: "venv/bin/python", args: ["server.py"] }));
await client.listTools();
for (const structured of [false, true]) {
  const said = await client.callTool({ name: "first", arguments: { structured } }).then(
    (result) => result.content[0].text,
    (error) => error.code,
  );
  console.log(`TypeScript, error with ${structured ? "structured content" : "text"}: ${said}`);
}
await client.close();
JS
cat >probe.py <<'PY'
import asyncio
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


async def show():
    server = StdioServerParameters(command=sys.executable, args=["server.py"])
    async with stdio_client(server) as (reader, writer), ClientSession(reader, writer) as session:
        await session.initialize()
        await session.list_tools()
        for structured in (False, True):
            result = await session.call_tool("first", {"structured": structured})
            print(f"Python, error with {'structured content' if structured else 'text'}: {result.content[0].text}")


asyncio.run(show())
PY
{ timeout 120 node probe.mjs; timeout 120 venv/bin/python probe.py; } | tee seen
sed -n 's/^#   //p' "$self" | diff - seen && echo 'as recorded'
