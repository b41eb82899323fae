"""A connection to an MCP server over stdio, for the benches that are scripts."""

import json
import subprocess


class Client:
    """Starts `program` with `arguments` in a folder, and initializes the connection."""

    def __init__(self, program, arguments, folder, environment):
        self.process = subprocess.Popen(
            [program, *arguments], cwd=folder, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self.last = 0
        client = {"name": "benches", "version": "1"}
        self.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client})

    def ask(self, method, params):
        """The result of a request. An error of the protocol raises."""
        self.last += 1
        request = {"jsonrpc": "2.0", "id": self.last, "method": method, "params": params}
        self.process.stdin.write((json.dumps(request) + "\n").encode())
        self.process.stdin.flush()
        while True:
            reply = json.loads(self.process.stdout.readline())
            if reply.get("id") == self.last:
                if "error" in reply:
                    raise RuntimeError(f"{params}: {reply['error']['message']}")
                return reply["result"]

    def call(self, tool, arguments):
        return self.ask("tools/call", {"name": tool, "arguments": arguments})
