# The MCP client of the OpenAI Agents SDK, without a model.
import asyncio, json, os
from agents.mcp import MCPServerStreamableHttp


async def main():
    headers = {"Authorization": "Bearer " + os.environ["SVC_API_KEY"]}
    async with MCPServerStreamableHttp(params={"url": os.environ["PLATFORM"], "headers": headers}) as server:
        tools = [tool.name for tool in await server.list_tools()]
        answer = (await server.call_tool("add", {"a": 40, "b": 2})).content[0].text
    print(json.dumps({"tools": tools, "answer": answer}))


asyncio.run(main())
