import { getIntrospectionQuery } from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newId, parseId } from '../../contracts/ids.ts';
import { startTestBackend, type TestBackend } from './start-test-backend.ts';

let backend: TestBackend;
let token: string;
beforeAll(async () => {
  backend = await startTestBackend();
  token = await backend.operatorToken();
  await backend.must('mutation { createWorkspace(input: { name: "W", ownerEmail: "owner@localhost" }) { id } }');
});
afterAll(() => backend.stop());

const ask = (query: string, variables?: object) => backend.ask({ query, variables: { ...variables }, token });
const inWorkspace = (fields: string) => `{ workspace(name: "W") { ${fields} } }`;

test('tools can read the schema', async () => {
  const answer = await ask(getIntrospectionQuery({ inputValueDeprecation: true, oneOf: true }));
  expect(answer.errors).toEqual([]);
  expect(answer.data.__schema.types.length).toBeGreaterThan(30);
});

test('an operation beyond a limit is refused before anything is read', async () => {
  const answer = await ask(inWorkspace('skills { nodes { tools { mcpServer { tools { nodes { id } } } } } }'));
  expect(answer.errors).toMatchObject([
    {
      message: 'The operation asks for too much: more than 120000 nodes, were every page full.',
      extensions: { code: 'invalid_input', hint: expect.stringContaining('smaller pages') },
    },
  ]);
  expect(answer.data).toBe(null);
});

test('an endless document is not read to its end', async () => {
  const answer = await ask(`{ ${'viewer { id } '.repeat(1000)} }`);
  expect(answer.errors[0]).toMatchObject({ extensions: { code: 'invalid_input' } });
  expect(answer.errors[0]?.message).toMatch(/2000 tokens/);
});

test('a workspace has at most 1000 MCP servers', async () => {
  const { id } = (await ask(inWorkspace('id'))).data.workspace;
  const workspace = parseId('workspace', id);
  await backend.withGraph((graph) =>
    graph.write(async (transaction) => {
      for (let i = 0; i < 999; i++) {
        const launch = {
          kind: 'child',
          launch: '',
          configVersion: 1,
          enabled: false,
          tokenVersion: null,
          startTimeout: null,
          callTimeout: null,
        };
        const named = { id: newId('mcpServer'), workspace, name: `full-${i}`, createdAt: i };
        await transaction.create('mcpServer', { ...named, ...launch });
      }
    }),
  );
  const create = (name: string) =>
    ask(
      'mutation ($w: ID!, $n: String!) { createMcpServer(workspace: $w, input: { name: $n, launch: { command: "true" } }) { id } }',
      { w: id, n: name },
    );
  expect((await create('last')).errors).toEqual([]);
  expect((await create('one-more')).errors).toMatchObject([
    { message: 'There may be at most 1000 MCP servers in a workspace.', extensions: { code: 'too_large' } },
  ]);
});

describe('pages', () => {
  test.each([0, -1, 101, 100_000])('of %d are refused', async (first) => {
    for (const list of ['roles', 'skills', 'mcpServers', 'tools', 'keys', 'activity', 'runtimes', 'usage']) {
      const answer = await ask(inWorkspace(`${list}(first: ${first}) { nodes { __typename } }`));
      expect([list, answer.code]).toEqual([list, 'invalid_input']);
    }
  });

  test('of 100 are accepted, and lists without pages hold 1000', async () => {
    const pages = await ask(inWorkspace('roles(first: 100) { nodes { skills(first: 1000) { id } } }'));
    expect(pages.errors).toEqual([]);
    await backend.must('mutation ($w: ID!) { createRole(workspace: $w, input: { name: "R" }) { id } }', {
      w: (await ask(inWorkspace('id'))).data.workspace.id,
    });
    const list = await ask(inWorkspace('roles { nodes { skills(first: 1001) { id } } }'));
    expect(list.code).toBe('invalid_input');
  });

  test('list everything exactly once', async () => {
    const { id: w } = (await ask(inWorkspace('id'))).data.workspace;
    const names = Array.from({ length: 23 }, (_, i) => `page-${String(i).padStart(2, '0')}`);
    for (const name of names) {
      await backend.must('mutation ($w: ID!, $n: String!) { createSkill(workspace: $w, input: { name: $n }) { id } }', {
        w,
        n: name,
      });
    }
    const seen: string[] = [];
    let after: string | null = null;
    do {
      const { skills }: { skills: { nodes: { name: string }[]; pageInfo: { next: string | null } } } = (
        await ask(
          'query ($after: String) { workspace(name: "W") { skills(first: 10, after: $after, search: "page") { nodes { name } pageInfo { next } } } }',
          { after },
        )
      ).data.workspace;
      seen.push(...skills.nodes.map(({ name }) => name));
      after = skills.pageInfo.next;
    } while (after !== null);
    expect(seen).toEqual(names);
  });

  test.each(['', 'nonsense', 'x'.repeat(5000)])('after "%.20s" is refused', async (after) => {
    const answer = await ask(
      'query ($after: String) { workspace(name: "W") { skills(after: $after) { nodes { name } } } }',
      { after },
    );
    expect(answer.code).toBe('invalid_input');
  });

  test('a search has a length limit', async () => {
    const query = 'query ($s: String) { workspace(name: "W") { skills(search: $s) { nodes { name } } } }';
    expect((await ask(query, { s: 'x'.repeat(257) })).code).toBe('invalid_input');
    expect((await ask(query, { s: '   ' })).errors).toEqual([]);
  });
});
