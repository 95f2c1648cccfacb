# The tools of MCP servers as tools of LangChain.
import asyncio, json, os
from langchain_mcp_adapters.client import MultiServerMCPClient


async def main():
    headers = {"Authorization": "Bearer " + os.environ["SVC_API_KEY"]}
    server = {"transport": "streamable_http", "url": os.environ["PLATFORM"], "headers": headers}
    tools = await MultiServerMCPClient({"platform": server}).get_tools()
    add = next(tool for tool in tools if tool.name == "add")
    answer = (await add.ainvoke({"a": 40, "b": 2}))[0]["text"]
    print(json.dumps({"tools": [tool.name for tool in tools], "answer": answer}))


asyncio.run(main())
