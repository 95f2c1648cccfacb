// The client that the conformance suite starts with the address of an MCP server. The test lets the platform connect there.
const { TEST: test = '' } = process.env;
const answer = await fetch(test, { method: 'POST', body: process.argv.at(-1) });
process.stdout.write(await answer.text());
process.exit(answer.ok ? 0 : 1);
