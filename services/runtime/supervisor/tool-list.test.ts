import { expect, test } from 'vitest';
import { SvcError } from '../../contracts/errors.ts';
import { Conversation } from './conversation.ts';
import { listTools } from './tool-list.ts';

/** Lists the tools of an MCP server with the given tools. */
async function listed(tools: readonly unknown[]) {
  const conversation: Conversation = new Conversation('odd', {
    toolsChanged: () => {},
    doubted: () => {},
    garbage: () => expect.fail(),
  });
  conversation.begin({
    send(_message, about) {
      if (about.kind !== 'request') return;
      const answer = { jsonrpc: '2.0', id: about.id, result: { tools } };
      setImmediate(() => conversation.hear(Buffer.from(JSON.stringify(answer)), null));
    },
    forget() {},
    lastWords: () => [],
    stop: async () => {},
  });
  const list = await listTools(conversation, 20_000);
  conversation.close(new SvcError('unavailable', 'It is over.'));
  return { names: list.tools.map(({ name }) => name), omitted: list.omitted?.message ?? null };
}

const tool = (name: string) => ({ name, inputSchema: { type: 'object' } });

test.each([
  ['NUL', 'a\0', /left out are "a\0" because its name holds a control character/],
  ['a line break', 'a\nb', /control character/],
  ['half a surrogate pair', 'a\ud83d', /half of a surrogate pair/],
  ['a name of a megabyte', 'x'.repeat(1_000_000), /longer than 1000 characters/],
  ['a duplicate name', 'b', /another tool has the same name/],
])('a tool with %s is left out and reported; the others are listed', async (_name, name, why) => {
  const { names, omitted } = await listed([tool('b'), tool(name), tool('läs 😀')]);
  expect(names).toEqual(['b', 'läs 😀']);
  expect(omitted).toMatch(why);
});

test('of 20,001 tools, 20,000 are listed', async () => {
  const { names, omitted } = await listed(Array.from({ length: 20_001 }, (_, at) => tool(`t${at}`)));
  expect(names).toHaveLength(20_000);
  expect(omitted).toMatch(/"t20000" because there are more than 20000 tools/);
});
