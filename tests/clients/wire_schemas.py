"""Validates lines that a server wrote against the published schemas of MCP.

    python wire_schemas.py EXCHANGES

EXCHANGES holds one JSON object a line, {"revision", "method", "lines": [...]}: what was asked of the server in which
revision, and every line it wrote until its answer was there. The official Python client 2.x carries one model for each
definition of `schema.json` of each revision; they are applied strictly, so that no value is converted to make it fit.

Prints {"validated": {REVISION: {KIND: COUNT}}, "failures": [...]}; exits 1 when there are failures.
"""

import collections
import importlib
import json
import sys

from mcp_types.methods import SERVER_NOTIFICATIONS, SERVER_RESULTS
from pydantic import TypeAdapter, ValidationError

MODELS = {revision: importlib.import_module(f"mcp_types._v{revision.replace('-', '_')}") for revision in
          ["2025-11-25", "2026-07-28"]}
# The newer revision says what an error of each of these numbers looks like.
ERRORS = {
    -32700: "ParseError",
    -32600: "InvalidRequestError",
    -32601: "MethodNotFoundError",
    -32602: "InvalidParamsError",
    -32603: "InternalError",
}
UNSUPPORTED_REVISION = -32022


def definitions(revision, method, message):
    """What kind of message it is, and each (definition, part) that must agree."""
    models = MODELS[revision]
    if "method" in message:
        notification = SERVER_NOTIFICATIONS[message["method"], revision]
        return message["method"], [(models.JSONRPCNotification, message), (notification, message)]
    if "result" in message:
        kind = f"{method} isError" if message["result"].get("isError") else method
        result = SERVER_RESULTS[method, revision]
        return kind, [(models.JSONRPCResultResponse, message), (result, message["result"])]
    code = message["error"]["code"]
    checks = [(models.JSONRPCErrorResponse, message)]
    if code == UNSUPPORTED_REVISION:
        checks.append((models.UnsupportedProtocolVersionError, message))
    elif hasattr(models, ERRORS.get(code, "")):
        checks.append((getattr(models, ERRORS[code]), message["error"]))
    return f"error {code}", checks


def main():
    validated = collections.defaultdict(collections.Counter)
    failures = []
    with open(sys.argv[1], encoding="utf-8") as file:
        exchanges = [json.loads(line) for line in file]
    for exchange in exchanges:
        revision, method = exchange["revision"], exchange["method"]
        for line in exchange["lines"]:
            try:
                kind, checks = definitions(revision, method, json.loads(line))
                for definition, part in checks:
                    TypeAdapter(definition).validate_json(json.dumps(part), strict=True, by_alias=True, by_name=False)
                validated[revision][kind] += 1
            except KeyError as missing:
                failures.append(f"{revision} {method}: the schema has no {missing}: {line[:500]}")
            except ValidationError as error:
                failures.append(f"{revision} {method}: {error}: {line[:500]}")
    print(json.dumps({"validated": validated, "failures": failures}))
    sys.exit(1 if failures else 0)


main()
