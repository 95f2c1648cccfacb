# The client of FastMCP. The folder of this program would hide the package of the same name.
import sys

sys.path.pop(0)
import asyncio, json, os
from fastmcp import Client


async def main():
    async with Client(os.environ["PLATFORM"], auth=os.environ["SVC_API_KEY"]) as client:
        tools = [tool.name for tool in await client.list_tools()]
        answer = (await client.call_tool("add", {"a": 40, "b": 2})).content[0].text
    print(json.dumps({"tools": tools, "answer": answer}))


asyncio.run(main())
