"""Runs the schemas of a server's tools through the converters of other libraries, as an agent built with them would.

    python converters.py BINARY ARGS...

Prints one JSON object {"converted": {CONVERTER: NUMBER OF TOOLS}, "failures": [...]}; exits 1 when there are failures.
Each converter must keep the name, the description and every argument of every tool.
"""

import asyncio
import importlib.metadata
import json
import os
import sys

from agents.strict_schema import ensure_strict_json_schema
from anthropic.lib.tools.mcp import async_mcp_tool
from google.genai import types
from google.genai._mcp_utils import mcp_to_gemini_tool
from langchain_core.utils.function_calling import convert_to_openai_tool
from langchain_google_genai._function_utils import convert_to_genai_function_declarations
from langchain_mcp_adapters.tools import convert_mcp_tool_to_langchain_tool
from llama_index.tools.mcp import McpToolSpec
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from pydantic_ai.profiles.google import GoogleJsonSchemaTransformer
from pydantic_ai.profiles.openai import OpenAIJsonSchemaTransformer


def described(schema):
    """The arguments of a converted schema, whichever form it has."""
    if not isinstance(schema, dict):
        schema = schema.model_dump(exclude_none=True)
    return set(schema.get("properties", {}))


async def openai_strict(tool, _):
    schema = ensure_strict_json_schema(json.loads(json.dumps(tool.inputSchema)))
    assert schema["additionalProperties"] is False and set(schema["required"]) == described(schema)
    return tool.name, described(schema)


async def google_genai(tool, _):
    (declaration,) = mcp_to_gemini_tool(tool).function_declarations
    # The form that is sent.
    types.FunctionDeclaration.model_validate(declaration.model_dump())
    assert declaration.description == tool.description
    return declaration.name, described(declaration.parameters or declaration.parameters_json_schema)


async def langchain_google_genai(tool, session):
    converted = convert_mcp_tool_to_langchain_tool(session, tool)
    (converted,) = convert_to_genai_function_declarations([converted])
    (declaration,) = converted.function_declarations
    assert declaration.description == tool.description
    return declaration.name, described(declaration.parameters or declaration.parameters_json_schema)


async def anthropic(tool, session):
    converted = async_mcp_tool(tool, session).to_dict()
    assert converted["description"] == tool.description
    return converted["name"], described(converted["input_schema"])


async def langchain(tool, session):
    converted = convert_to_openai_tool(convert_mcp_tool_to_langchain_tool(session, tool))["function"]
    assert converted["description"] == tool.description
    return converted["name"], described(converted["parameters"])


async def llama_index(tool, session):
    (converted,) = await McpToolSpec(session, allowed_tools=[tool.name]).to_tool_list_async()
    function = converted.metadata.to_openai_tool()["function"]
    return function["name"], described(function["parameters"])


async def pydantic_ai(tool, _):
    for transformer in (OpenAIJsonSchemaTransformer, GoogleJsonSchemaTransformer):
        schema = transformer(json.loads(json.dumps(tool.inputSchema)), strict=True).walk()
        assert described(schema) == described(tool.inputSchema)
    return tool.name, described(schema)


CONVERTERS = {
    "openai": (openai_strict, "openai"),
    "google-genai": (google_genai, "google-genai"),
    "langchain-google-genai": (langchain_google_genai, "langchain-google-genai"),
    "anthropic": (anthropic, "anthropic"),
    "langchain": (langchain, "langchain-core"),
    "llama-index": (llama_index, "llama-index-tools-mcp"),
    "pydantic-ai": (pydantic_ai, "pydantic-ai-slim"),
}


async def main(binary, *arguments):
    server = StdioServerParameters(command=binary, args=list(arguments), env=dict(os.environ))
    converted, failures = {}, []
    async with stdio_client(server) as streams, ClientSession(*streams) as session:
        await session.initialize()
        tools = (await session.list_tools()).tools
        for name, (convert, package) in CONVERTERS.items():
            done = 0
            for tool in tools:
                try:
                    found, arguments = await convert(tool, session)
                    missing = described(tool.inputSchema) - arguments
                    assert found == tool.name and not missing, f"{found} lacks {sorted(missing)}"
                    done += 1
                except Exception as error:
                    failures.append(f"{name}: {tool.name}: {type(error).__name__}: {error}")
            converted[f"{name} {importlib.metadata.version(package)}"] = done
    print(json.dumps({"tools": len(tools), "converted": converted, "failures": failures}))
    return 1 if failures else 0


sys.exit(asyncio.run(main(*sys.argv[1:])))
