import { afterAll, beforeAll, expect, test } from 'vitest';
import { newId, type WorkspaceId } from '../../contracts/ids.ts';
import { instructionsMaxBytes } from '../../contracts/workspace-limits.ts';
import { startTestBackend, type TestBackend } from './start-test-backend.ts';

let backend: TestBackend;
let workspace: WorkspaceId;
let token: string;
const skills = Array.from({ length: 100 }, () => newId('skill'));

beforeAll(async () => {
  backend = await startTestBackend();
  token = await backend.operatorToken();
  const made = 'mutation { createWorkspace(input: { name: "W", ownerEmail: "owner@localhost" }) { id } }';
  workspace = (await backend.must(made)).createWorkspace.id;
  await backend.withGraph((graph) =>
    graph.write(async (transaction) => {
      for (const [i, id] of skills.entries()) {
        const told = { name: `skill-${i}`, description: '', instructions: 'x'.repeat(instructionsMaxBytes) };
        await transaction.create('skill', { id, workspace, createdAt: i, ...told });
      }
      for (let i = 0; i < 100; i++) {
        const told = { name: `role-${i}`, description: '', enabled: true, toolLimit: null };
        const role = await transaction.create('role', { id: newId('role'), workspace, createdAt: i, ...told });
        await transaction.link({ from: 'role', edge: 'skills' }, role.id, skills.slice(0, 1));
      }
    }),
  );
});
afterAll(() => backend.stop());

const ask = (fields: string) => backend.ask({ query: `{ workspace(name: "W") { ${fields} } }`, token });
const fiftyTimes = (field: string) => Array.from({ length: 50 }, (_, i) => `a${i}: ${field}`).join(' ');
const smallerPages = 'Ask for fewer fields, or for smaller pages with "first".';
const more: string[] = [];
/** The largest memory of this process so far. */
const peakBytes = () => process.resourceUsage().maxRSS * 1024;

test('the text of an answer is refused before it is read', async () => {
  const before = peakBytes();
  const { errors, data } = await ask(fiftyTimes('skills(first: 100) { nodes { instructions } }'));
  expect(data).toBe(null);
  expect(errors).toMatchObject([{ extensions: { code: 'too_large', hint: smallerPages } }]);
  expect(peakBytes() - before).toBeLessThan(300 * 1024 * 1024);
});

test('reads count, even if the answer leaves them out', async () => {
  const page = 'skills(first: 100) { nodes { name } }';
  expect((await ask(page)).errors).toEqual([]);
  const { errors } = await ask(fiftyTimes(page));
  expect(errors).toMatchObject([
    { message: 'The operation takes more than 32 MiB of memory.', extensions: { code: 'too_large' } },
  ]);
});

test('a text that several nodes lead to counts each time', async () => {
  const { errors } = await ask('roles(first: 100) { nodes { skills(first: 1) { instructions } } }');
  expect(errors).toMatchObject([{ message: 'The answer is larger than 8 MiB.', extensions: { hint: smallerPages } }]);
});

test('a long list without pages is not read to its end', async () => {
  const create =
    'mutation ($w: ID!, $s: [ID!]) { createRole(workspace: $w, input: { name: "Long", skills: $s }) { id } }';
  await backend.withGraph((graph) =>
    graph.write(async (transaction) => {
      for (let i = 100; i < 300; i++) {
        const id = newId('skill');
        const told = { name: `skill-${i}`, description: '', instructions: 'x'.repeat(instructionsMaxBytes) };
        await transaction.create('skill', { id, workspace, createdAt: i, ...told });
        more.push(id);
      }
    }),
  );
  await backend.must(create, { w: workspace, s: more });
  const { errors } = await ask('role(name: "Long") { skills(first: 1000) { id } }');
  expect(errors).toMatchObject([{ extensions: { code: 'too_large', hint: expect.stringContaining('"first"') } }]);
});

test('a text counts as it is written in JSON', async () => {
  const instructions = '\u0001'.repeat(instructionsMaxBytes);
  const create =
    'mutation ($w: ID!, $i: String) { createSkill(workspace: $w, input: { name: "signs", instructions: $i }) { id } }';
  const { id } = (await backend.must(create, { w: workspace, i: instructions })).createSkill;
  const times = (count: number) =>
    Array.from({ length: count }, (_, i) => `a${i}: skill(id: "${id}") { instructions }`).join(' ');
  expect((await ask(times(4))).data.workspace.a3.instructions).toBe(instructions);
  expect((await ask(times(6))).code).toBe('too_large');
});

test('an error in each node is part of the answer', async () => {
  const { code } = await ask(fiftyTimes('roles { nodes { enabled skills(first: 0) { id } } }'));
  expect(code).toBe('invalid_input');
  const { errors } = await ask('roles { nodes { skills(first: 0) { id } } }');
  expect(errors.length).toBeLessThan(101);
});

test('a change is made and announced, whatever else its answer holds', async () => {
  const create = `mutation ($w: ID!, $skills: [ID!]) {
    createRole(workspace: $w, input: { name: "Told", skills: $skills }) { id skills { instructions } }
  }`;
  const { errors, status } = await backend.ask({ query: create, variables: { w: workspace, skills }, token });
  expect(status).toBe(200);
  expect(errors).toMatchObject([
    {
      message: 'The change was made. Its answer takes more than 2 MiB of memory.',
      path: ['createRole', 'skills'],
      extensions: { code: 'too_large', hint: 'Read the fields with a query.' },
    },
  ]);
  expect((await ask('role(name: "Told") { name }')).data.workspace.role).toEqual({ name: 'Told' });
});
