// Sends a token with every request of the official conformance suite, which has no option for that.
//
//     MCP_TOKEN=... node --import bearer.mjs SUITE server --url ...
//
// The suite sends requests in three ways: with fetch, with undici, and with node's own http.

import http from "node:http";
import { createRequire, syncBuiltinESMExports } from "node:module";

const authorization = `Bearer ${process.env.MCP_TOKEN}`;

const { fetch } = globalThis;
globalThis.fetch = (url, options = {}) => {
  const headers = new Headers(options.headers ?? (url instanceof Request ? url.headers : undefined));
  headers.set("authorization", authorization);
  return fetch(url, { ...options, headers });
};

const { request } = http;
http.request = (options, ...rest) =>
  request({ ...options, headers: { ...options.headers, authorization } }, ...rest);
syncBuiltinESMExports();

const undici = createRequire(process.argv[1])("undici");
const add = (dispatch) => (options, handler) => {
  const headers = options.headers ?? {};
  const isPlain = !Array.isArray(headers) && !("authorization" in headers) && typeof headers[Symbol.iterator] !== "function";
  return dispatch(isPlain ? { ...options, headers: { ...headers, authorization } } : options, handler);
};
undici.setGlobalDispatcher(undici.getGlobalDispatcher().compose(add));
