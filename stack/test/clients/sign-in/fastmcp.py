# FastMCP's client, whose browser is the program in BROWSER.
import asyncio, json, os
from urllib.parse import urlparse
from fastmcp import Client
from fastmcp.client.auth import OAuth


async def main():
    auth = OAuth(callback_port=urlparse(os.environ["CALLBACK"]).port)
    async with Client(os.environ["PLATFORM"], auth=auth) as client:
        tools = [tool.name for tool in await client.list_tools()]
        called = await client.call_tool("call_tool", {"name": "add", "arguments": {"a": 40, "b": 2}})
    print(json.dumps({"tools": tools, "answer": called.content[0].text}))


asyncio.run(main())
