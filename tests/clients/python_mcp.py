"""Drives a server over stdio with the official Python client, 1.x or 2.x, whichever is installed.

    python python_mcp.py [--calls FILE] BINARY ARGS...

FILE holds {"calls": {TOOL: ARGUMENTS, ...}, "faults": [{"tool", "arguments", "code"}, ...]}: what to call each tool
with, and calls that must fail with a result that begins with that code. A call of an unknown tool is always tried.
With the 2.x client all of it is done three times: as it negotiates by itself, with the handshake, and with neither.
The client itself checks results against the tools' output schemas.

Prints one JSON object {"sdk", "runs": [...], "failures": [...]}; exits 1 when there are failures.
"""

import argparse
import asyncio
import contextlib
import importlib.metadata
import json
import os
import sys

import mcp
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

SDK = importlib.metadata.version("mcp")
IS_FIRST = SDK.startswith("1.")
ProtocolError = mcp.McpError if IS_FIRST else mcp.MCPError
PATIENCE = 120
NO_SUCH_TOOL = "no_such_tool"
# A client that is given the revision asks nothing before its first call.
NEGOTIATING = ["auto", "legacy"]
INVALID_PARAMS = -32602


def either(thing, *names):
    """The attribute that this release of the client has: 1.x writes camelCase, 2.x snake_case."""
    return next((getattr(thing, name) for name in names if hasattr(thing, name)), None)


@contextlib.asynccontextmanager
async def connected(server, mode):
    """The session, and what the server said of itself."""
    if IS_FIRST:
        async with stdio_client(server) as streams, ClientSession(*streams) as session:
            opening = await session.initialize()
            yield session, opening.protocolVersion, opening.serverInfo, opening.instructions
    else:
        async with mcp.Client(server, mode=mode) as client:
            yield client, client.protocol_version, client.server_info, client.instructions


class Run:
    def __init__(self, mode, asked):
        self.asked = asked
        self.failures = []
        self.report = {"mode": mode, "results": {}, "faults": []}

    def expect(self, holds, failure):
        if not holds:
            self.failures.append(f"{self.report['mode']}: {failure}")

    async def drive(self, server):
        async with connected(server, self.report["mode"]) as (session, version, identity, instructions):
            self.report["protocol_version"] = version
            self.report["instructions"] = instructions
            self.report["server"] = identity and {"name": identity.name, "version": identity.version}
            if self.report["mode"] in NEGOTIATING:
                self.expect(instructions and len(instructions) < 2048, "instructions are absent or too long")
                self.expect(identity and identity.name == "ixmcp", "the server does not say who it is")
            await self.check_list(session)
            for tool, arguments in self.asked.get("calls", {}).items():
                await self.check_call(session, tool, arguments)
            for fault in self.asked.get("faults", []):
                await self.check_fault(session, **fault)
            await self.check_unknown_tool(session)

    async def check_list(self, session):
        tools = (await session.list_tools()).tools
        self.report["tools"] = [tool.name for tool in tools]
        for tool in tools:
            complete = tool.description and tool.title and tool.annotations
            self.expect(complete, f"{tool.name}: no title, description or annotations")
            self.expect(either(tool, "output_schema", "outputSchema"), f"{tool.name}: no output schema")
        uncalled = set(self.report["tools"]) - set(self.asked.get("calls", {}))
        self.expect(not uncalled or not self.asked.get("calls"), f"never called: {sorted(uncalled)}")

    async def check_call(self, session, tool, arguments):
        try:
            result = await asyncio.wait_for(session.call_tool(tool, arguments), PATIENCE)
        except Exception as error:  # noqa: BLE001: whatever the client makes of it is the finding
            return self.expect(False, f"{tool}: {type(error).__name__}: {error}")
        text = "".join(block.text for block in result.content)
        if either(result, "is_error", "isError"):
            return self.expect(False, f"{tool}: {text}")
        data = either(result, "structured_content", "structuredContent")
        self.report["results"][tool] = data
        self.expect(isinstance(data, dict), f"{tool}: no structured content")
        self.expect(json.loads(text) == data, f"{tool}: the text differs from the structured content")

    async def check_fault(self, session, tool, arguments, code):
        result = await asyncio.wait_for(session.call_tool(tool, arguments), PATIENCE)
        text = "".join(block.text for block in result.content)
        self.report["faults"].append({"tool": tool, "arguments": arguments, "text": text})
        is_error = either(result, "is_error", "isError")
        self.expect(is_error and text.startswith(f"{code}: "), f"{tool} {arguments}: not {code} but {text}")

    async def check_unknown_tool(self, session):
        try:
            await asyncio.wait_for(session.call_tool(NO_SUCH_TOOL, {}), PATIENCE)
            self.expect(False, "an unknown tool is no error")
        except ProtocolError as error:
            self.report["unknown_tool"] = {"code": error.error.code, "message": error.error.message}
            right = error.error.code == INVALID_PARAMS and NO_SUCH_TOOL in error.error.message
            self.expect(right, f"unknown tool: {error.error}")


async def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--calls", help="JSON file of calls and faults")
    options.add_argument("server", nargs=argparse.REMAINDER, metavar="BINARY ARGS...")
    options = options.parse_args()
    if not options.server:
        sys.exit("no BINARY given")
    asked = {}
    if options.calls:
        with open(options.calls, encoding="utf-8") as file:
            asked = json.load(file)

    # The client hands on few variables of its own accord; a test says more by them.
    server = StdioServerParameters(command=options.server[0], args=options.server[1:], env=dict(os.environ))
    runs = []
    for mode in ["legacy"] if IS_FIRST else [*NEGOTIATING, "2026-07-28"]:
        run = Run(mode, asked)
        try:
            await run.drive(server)
        except Exception as error:  # noqa: BLE001
            run.expect(False, f"stopped by {type(error).__name__}: {error}")
        runs.append(run)
    failures = [failure for run in runs for failure in run.failures]
    print(json.dumps({"sdk": SDK, "runs": [run.report for run in runs], "failures": failures}))
    sys.exit(1 if failures else 0)


asyncio.run(main())
