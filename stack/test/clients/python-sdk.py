# The client of the Python SDK of MCP, version 2.
import asyncio, json, os
import httpx2
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client


async def main():
    headers = {"Authorization": "Bearer " + os.environ["SVC_API_KEY"]}
    async with httpx2.AsyncClient(headers=headers, timeout=30) as http:
        async with streamable_http_client(os.environ["PLATFORM"], http_client=http) as (read, write):
            async with ClientSession(read, write) as session:
                await session.initialize()
                tools = [tool.name for tool in (await session.list_tools()).tools]
                answer = (await session.call_tool("add", {"a": 40, "b": 2})).content[0].text
    print(json.dumps({"tools": tools, "answer": answer}))


asyncio.run(main())
