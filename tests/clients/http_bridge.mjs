// Lets programs that speak only HTTP, as the official conformance suite does, reach a daemon by its Unix socket.
//
//     node http_bridge.mjs SOCKET
//
// For tests alone: it lets in whoever can reach its port, which it prints. One connection to the daemon for each
// session, and one for each request that names none. Answers have HTTP 200, for a server of lines knows no status: what
// the suite finds about statuses and headers it finds about this bridge. It ends when its stdin closes.

import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { connect } from "node:net";
import { createInterface } from "node:readline";

const [socket] = process.argv.slice(2);
const LOCAL = /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/;
const SESSION = "mcp-session-id";
const sessions = new Map();

class Connection {
  constructor() {
    this.waiting = [];
    this.stream = connect(socket);
    createInterface({ input: this.stream }).on("line", (line) => this.take(line));
    this.stream.on("error", (error) => console.error(String(error)));
  }

  // Notifications belong to the request that is open; the suite has one at a time.
  take(line) {
    const isAnswer = !("method" in JSON.parse(line));
    const open = this.waiting[0];
    open?.lines.push(line);
    if (open && isAnswer) this.waiting.shift().done(open.lines);
  }

  ask(line) {
    return new Promise((done) => {
      this.waiting.push({ lines: [], done });
      this.stream.write(`${line}\n`);
    });
  }
}

async function body(request) {
  const parts = [];
  for await (const part of request) parts.push(part);
  return Buffer.concat(parts).toString();
}

async function answer(request, response) {
  const origin = request.headers.origin?.replace(/^https?:\/\//, "");
  if (!LOCAL.test(request.headers.host ?? "") || (origin && !LOCAL.test(origin))) return response.writeHead(403).end();
  if (request.method !== "POST") return response.writeHead(405).end();
  const message = JSON.parse(await body(request));
  const line = JSON.stringify(message);
  const known = sessions.get(request.headers[SESSION]);
  const connection = known ?? new Connection();
  if (message.id === undefined) {
    connection.stream.write(`${line}\n`);
    return response.writeHead(202).end();
  }
  const lines = await connection.ask(line);
  const headers = {};
  if (message.method === "initialize") {
    headers[SESSION] = randomUUID();
    sessions.set(headers[SESSION], connection);
  } else if (!known) connection.stream.end();
  if (lines.length === 1) {
    return response.writeHead(200, { ...headers, "content-type": "application/json" }).end(lines[0]);
  }
  response.writeHead(200, { ...headers, "content-type": "text/event-stream" });
  response.end(lines.map((event) => `event: message\ndata: ${event}\n\n`).join(""));
}

const server = createServer((request, response) =>
  answer(request, response).catch((error) => response.writeHead(400).end(String(error))),
);
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
process.stdin.on("close", () => process.exit()).resume();
