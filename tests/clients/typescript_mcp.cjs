// Drives a server over stdio with an official TypeScript client, 1.x or 2.x.
//
//     node typescript_mcp.cjs MODULES sdk|client CALLS BINARY ARGS...
//
// MODULES is the folder whose node_modules holds them; sdk is @modelcontextprotocol/sdk (1.x), client is
// @modelcontextprotocol/client (2.x). CALLS is a file {"calls": {TOOL: ARGUMENTS, ...}}. The client itself checks
// results against the tools' output schemas.
//
// Prints {"runs": [...], "failures": [...]}; exits 1 when there are failures.

const { createRequire } = require("node:module");
const { readFileSync } = require("node:fs");
const path = require("node:path");

const [modules, flavour, callsFile, command, ...args] = process.argv.slice(2);
const load = createRequire(path.join(path.resolve(modules), "package.json"));
const asked = JSON.parse(readFileSync(callsFile, "utf8"));
const failures = [];
const runs = [];

function parts() {
  if (flavour === "sdk") {
    const { Client } = load("@modelcontextprotocol/sdk/client/index.js");
    const { StdioClientTransport } = load("@modelcontextprotocol/sdk/client/stdio.js");
    return { Client, StdioClientTransport };
  }
  const { Client } = load("@modelcontextprotocol/client");
  const { StdioClientTransport } = load("@modelcontextprotocol/client/stdio");
  return { Client, StdioClientTransport };
}

async function drive(mode, options) {
  const expect = (holds, failure) => holds || failures.push(`${flavour} ${mode}: ${failure}`);
  const { Client, StdioClientTransport } = parts();
  const client = new Client({ name: "test", version: "1" }, options);
  await client.connect(new StdioClientTransport({ command, args, env: process.env, stderr: "inherit" }));
  expect(client.getServerVersion()?.name === "ixmcp", "the server does not identify itself");
  const { tools } = await client.listTools();
  expect(tools.every((tool) => tool.outputSchema && tool.annotations && tool.description), "a tool is not described");
  const uncalled = tools.map((tool) => tool.name).filter((name) => !(name in asked.calls));
  expect(uncalled.length === 0, `never called: ${uncalled}`);
  for (const [name, given] of Object.entries(asked.calls)) {
    const result = await client.callTool({ name, arguments: given });
    expect(!result.isError, `${name}: ${JSON.stringify(result.content)}`);
    const text = result.content.map((block) => block.text).join("");
    expect(JSON.stringify(JSON.parse(text)) === JSON.stringify(result.structuredContent), `${name}: text differs`);
  }
  const fault = await client.callTool({ name: "query", arguments: {} });
  expect(fault.isError && fault.content[0].text.startsWith("INVALID_ARGUMENT: "), "a fault is not a result");
  try {
    const result = await client.callTool({ name: "no_such_tool", arguments: {} });
    expect(false, `an unknown tool is no error: ${JSON.stringify(result)}`);
  } catch (error) {
    expect(error.code === -32602, `unknown tool: ${error}`);
  }
  runs.push({ mode, tools: tools.length, revision: client.getNegotiatedProtocolVersion?.() ?? null });
  await client.close();
}

async function main() {
  const modes = flavour === "sdk" ? [["as it is", {}]] : [
    ["auto", { versionNegotiation: { mode: "auto" } }],
    ["legacy", { versionNegotiation: { mode: "legacy" } }],
  ];
  for (const [mode, options] of modes) {
    await drive(mode, options).catch((error) => failures.push(`${flavour} ${mode}: stopped by ${error.stack}`));
  }
  console.log(JSON.stringify({ runs, failures }));
  process.exit(failures.length ? 1 : 0);
}

main();
