# The client of the Python SDK of MCP, version 2. It prints the address for its person, and waits for the browser.
import asyncio, json, os, sys
import httpx2
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import parse_qs, urlparse
from mcp import ClientSession
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientMetadata


class Storage:
    def __init__(self):
        self.tokens = self.client = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client):
        self.client = client


callback = os.environ["CALLBACK"]


async def send_person(address):
    print("Open " + address, file=sys.stderr, flush=True)


def wait_for_browser():
    seen = {}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            seen.update({name: values[0] for name, values in parse_qs(urlparse(self.path).query).items()})
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_):
            pass

    with HTTPServer(("127.0.0.1", urlparse(callback).port), Handler) as server:
        server.handle_request()
    if "error" in seen:
        raise RuntimeError(seen["error"])
    return AuthorizationCodeResult(code=seen["code"], state=seen["state"], iss=seen.get("iss"))


async def main():
    url = os.environ["PLATFORM"]
    metadata = OAuthClientMetadata(client_name="Python", redirect_uris=[callback])
    auth = OAuthClientProvider(
        url, metadata, Storage(), send_person, lambda: asyncio.to_thread(wait_for_browser)
    )
    async with httpx2.AsyncClient(auth=auth, timeout=30) as http:
        async with streamable_http_client(url, http_client=http) as (read, write):
            async with ClientSession(read, write) as session:
                await session.initialize()
                tools = [tool.name for tool in (await session.list_tools()).tools]
                called = await session.call_tool("call_tool", {"name": "add", "arguments": {"a": 40, "b": 2}})
    print(json.dumps({"tools": tools, "answer": called.content[0].text}))


asyncio.run(main())
