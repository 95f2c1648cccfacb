import { readFileSync } from 'node:fs';
import { buildSchema, type GraphQLObjectType, isObjectType } from 'graphql';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newId, type WorkspaceId } from '../../contracts/ids.ts';
import { membersMax } from '../../contracts/workspace-limits.ts';
import { type Member, startTestBackend, type TestBackend } from './start-test-backend.ts';

const file = new URL('../../contracts/graphql/schema.graphql', import.meta.url);
const type = buildSchema(readFileSync(file, 'utf8')).getType('Workspace');
const lists = isObjectType(type) ? searchableIn(type) : [];

function searchableIn(of: GraphQLObjectType): readonly string[] {
  const fields = Object.values(of.getFields());
  return fields.filter(({ args }) => args.some(({ name }) => name === 'search')).map(({ name }) => name);
}

let backend: TestBackend;
let workspace: WorkspaceId;
let admin: Member;
let viewer: Member;

beforeAll(async () => {
  backend = await startTestBackend();
  const create = 'mutation { createWorkspace(input: { name: "W", ownerEmail: "owner@example.com" }) { id } }';
  workspace = (await backend.must(create)).createWorkspace.id;
  [admin, viewer] = [await backend.addMember(workspace, 'admin'), await backend.addMember(workspace, 'viewer')];
});
afterAll(() => backend.stop());

const ask = (fields: string, { token }: Member, search = '') =>
  backend.ask({
    query: `query ($w: ID!, $s: String) { workspace(id: $w) { ${fields} tools(search: $s) { nodes { id } } } }`,
    variables: { w: workspace, s: search },
    token,
  });

test.each(lists)('a search of %s has at most 256 characters', async (list) => {
  const search = (text: string) =>
    ask(`${list}(search: $s) { ${list === 'ownKeys' ? 'id' : 'nodes { id }'} }`, admin, text);
  expect((await search('x'.repeat(256))).errors).toEqual([]);
  expect((await search('x'.repeat(257))).code).toBe('invalid_input');
});

test('fifty searches of a thousand members do not delay a viewer, who may not search them', {
  timeout: 60_000,
}, async () => {
  await backend.withGraph(async (graph) => {
    await graph.write(async (transaction) => {
      for (let at = 0; at < membersMax - 10; at++) {
        const [id, user] = [newId('member'), newId('user')];
        const person = { email: `${user}@example.com`, name: 'Ann Example', signedInAt: null, createdAt: at };
        await transaction.create('user', { id: user, ...person });
        await transaction.create('member', { id, workspace, user, role: 'viewer', suspended: false, createdAt: at });
        await transaction.link({ from: 'member', edge: 'person' }, id, [user]);
      }
    });
  });
  const words = 'b c d e f g h i j k l m n o p';
  const fields = Array.from({ length: 50 }, (_, at) => `a${at}: members(search: "z${at} ${words}") { nodes { id } }`);
  const attacking = Promise.all(Array.from({ length: 3 }, () => ask(fields.join(' '), admin)));
  let isOver = false;
  void attacking.finally(() => {
    isOver = true;
  });
  let slowMs = 0;
  while (!isOver) {
    const before = performance.now();
    expect((await ask('name', viewer)).errors).toEqual([]);
    slowMs = Math.max(slowMs, performance.now() - before);
  }
  for (const { code } of await attacking) expect([null, 'rate_limited', 'timeout', 'too_large']).toContain(code);
  expect(slowMs).toBeLessThan(3000);
  expect((await ask('members(search: "owner") { nodes { id } }', viewer)).code).toBe('forbidden');
});
