import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type BackendClient, connectToBackend } from '../../client/backend-client.ts';
import { createSkillMutation, createWorkspaceMutation, workspaceQuery } from '../../client/generated/operations.ts';
import { openTrial } from '../../operations/test/trial.ts';
import { folderOfEachTest } from '../../test/folder-of-each-test.ts';
import { type ApplyOptions, apply, type Change } from '../apply.ts';
import { exportFile } from '../export-file.ts';
import { findProblems, type ProblemSearch } from '../find-problems.ts';
import { readContent } from '../live-workspace.ts';
import { readApplyFile } from '../read-file.ts';

const demoServer = fileURLToPath(new URL('../../../templates/demo/server.mjs', import.meta.url));

const dir = folderOfEachTest();
let trial: Awaited<ReturnType<typeof openTrial>>;
let backend: BackendClient;

beforeAll(async () => {
  trial = await openTrial();
  await trial.up();
  backend = await connectToBackend(trial.installation);
}, 60_000);
afterAll(() => trial[Symbol.asyncDispose](), 60_000);

let count = 0;

/** Creates a workspace for one test, with an apply file for it. */
async function open() {
  const workspace = `W${++count}`;
  const input = { name: workspace, ownerEmail: 'a@example.com' };
  await backend.send(createWorkspaceMutation, { input });
  const file = join(dir(), 'platform.yaml');
  const applied = (env = {}, options: Partial<ApplyOptions> = {}) =>
    apply({ backend, files: [readApplyFile(file, env)], ...options });
  return {
    workspace,
    write: (yaml: string) => writeFileSync(file, `workspace: ${workspace}\n${yaml}`),
    apply: async (...how: Parameters<typeof applied>) => (await applied(...how)).changes,
    /** Reported problems of applied objects that do not work. */
    problems: async (options: Partial<ProblemSearch> = {}) => {
      const { plans } = await applied();
      return (await findProblems({ backend, plans, ...options })).map(({ message, hint }) => `${message} ${hint}`);
    },
  };
}

const lines = (changes: readonly Change[]) =>
  changes.map(({ action, name, fields }) => `${action} ${name}${fields.length === 0 ? '' : ` (${fields})`}`);
const changed = (changes: readonly Change[]) => lines(changes.filter(({ action }) => action !== 'none'));

const example = `
mcpServers:
  files: { command: svc-test-nothing, args: [a], cwd: ., env: { TOKEN: { fromEnv: TOKEN } }, enabled: false, runtime: cloud }
  crm: { url: "http://127.0.0.1:9/mcp", headers: { Authorization: { fromEnv: TOKEN } }, enabled: false }
skills:
  - { name: read-documents, description: Read, tools: [files/read_file, crm/search] }
roles:
  - { name: Reader, skills: [read-documents] }
`;

async function read(workspace: string) {
  const query = `query ($name: String) { workspace(name: $name) {
    revision roles { nodes { name skills { name } } } skills { nodes { name tools { originalName mcpServer { name } } } }
  } }`;
  // biome-ignore lint/suspicious/noExplicitAny: each test states the shape that it expects
  return (await backend.send<any, { name: string }>({ text: query }, { name: workspace })).workspace;
}

const revisionOf = async (workspace: string): Promise<number> => (await read(workspace)).revision;

test('the content of the file exists afterwards; later runs change what differs and remove nothing', async () => {
  const { workspace, write, apply: applyIt } = await open();
  const [env, otherEnv] = [{ TOKEN: 'first-secret' }, { TOKEN: 'second-secret' }];
  write(example);
  const all = ['create files', 'create crm', 'create read-documents', 'create Reader'];
  const empty = await revisionOf(workspace);
  expect(lines(await applyIt(env, { dryRun: true }))).toEqual(all);
  expect(await revisionOf(workspace)).toBe(empty);
  expect(lines(await applyIt(env))).toEqual(all);
  const { revision, roles, skills } = await read(workspace);
  expect(roles.nodes).toEqual([{ name: 'Reader', skills: [{ name: 'read-documents' }] }]);
  expect(skills.nodes).toEqual([
    {
      name: 'read-documents',
      tools: expect.arrayContaining([
        { originalName: 'read_file', mcpServer: { name: 'files' } },
        { originalName: 'search', mcpServer: { name: 'crm' } },
      ]),
    },
  ]);
  expect(lines(await applyIt(env))).toEqual(all.map((line) => line.replace('create', 'none')));
  expect(await revisionOf(workspace)).toBe(revision);
  write(example.replace('description: Read', 'description: Read all'));
  expect(changed(await applyIt(env))).toEqual(['update read-documents (description)']);
  expect(await revisionOf(workspace)).toBe(revision + 1);
  const ofSecrets = await applyIt(otherEnv);
  expect(changed(ofSecrets)).toEqual(['update files (env.TOKEN)', 'update crm (headers.authorization)']);
  expect(JSON.stringify(ofSecrets)).not.toMatch(/first-secret|second-secret/);
  expect(changed(await applyIt(otherEnv))).toEqual([]);
  write('');
  expect(await applyIt()).toEqual([]);
  expect(await revisionOf(workspace)).toBe(revision + 3);
});

test('a declared setting keeps the value that a person gave, and its file is exported as it is', async () => {
  const { workspace, write, apply: applyIt } = await open();
  const declared = '{ TOKEN: { title: Token }, LEVEL: { secret: false, required: false } }';
  const file = (env: string) =>
    `mcpServers:\n  s: { command: svc-test-nothing, enabled: false, env: ${env}, settings: ${declared} }\n`;
  write(file('{ LOG: 1 }'));
  expect(lines(await applyIt())).toEqual(['create s']);
  expect(changed(await applyIt())).toEqual([]);
  write(file('{ LOG: 1, TOKEN: { fromEnv: TOKEN } }'));
  expect(changed(await applyIt({ TOKEN: 'the-secret' }))).toEqual(['update s (env.TOKEN)']);
  write(file('{ LOG: 1 }'));
  expect(changed(await applyIt())).toEqual([]);
  write(file('{ LOG: 1 }').replace('title: Token', 'title: Access token'));
  const titled = await applyIt();
  expect(changed(titled)).toEqual(['update s (settings.TOKEN)']);
  const { workspace: found } = await backend.send(workspaceQuery, { name: workspace });
  const content = { workspace, ...(await readContent(backend, found?.id ?? '')) };
  const { text } = exportFile(content, { folder: dir(), schema: 'x', skillFolders: new Map() });
  expect(text).not.toContain('the-secret');
  write(text.replace(/^workspace: .*\n/m, ''));
  expect(changed(await applyIt({ TOKEN: 'the-secret' }))).toEqual([]);
});

test('an unknown workspace is named, with the known ones', async () => {
  const file = join(dir(), 'typo.yaml');
  writeFileSync(file, 'workspace: Defalt\n');
  await expect(apply({ backend, files: [readApplyFile(file, {})] })).rejects.toMatchObject({
    code: 'not_found',
    message: 'There is no workspace "Defalt". Did you mean "Default"?',
  });
});

test.each([
  ['a name that is defined twice', 'skills: [{ name: fine }, { name: fine }]\n'],
  ['a name that is not there', 'skills: [{ name: fine }]\nroles: [{ name: Reader, skills: [missing] }]\n'],
])('%s is refused before anything is changed', async (_, yaml) => {
  const { workspace, write, apply: applyIt } = await open();
  const revision = await revisionOf(workspace);
  write(yaml);
  await expect(applyIt()).rejects.toMatchObject({ code: 'invalid_input' });
  expect(await revisionOf(workspace)).toBe(revision);
});

test('an interruption ends it, and the next run finishes the rest', async () => {
  const { write, apply: applyIt } = await open();
  write(`skills:\n${Array.from({ length: 200 }, (_, i) => `  - { name: s-${i} }\n`).join('')}`);
  const interrupt = new AbortController();
  let changes = 0;
  const interrupting: BackendClient = {
    ...backend,
    async send(operation, variables, options) {
      const answer = await backend.send(operation, variables, options);
      if (operation.text === createSkillMutation.text && ++changes === 20) interrupt.abort();
      return answer;
    },
  };
  const begun = applyIt({}, { backend: interrupting, signal: interrupt.signal });
  await expect(begun).rejects.toMatchObject({ code: 'cancelled' });
  const rest = await applyIt();
  expect(rest).toHaveLength(200);
  expect(rest.filter(({ action }) => action === 'none').length).toBeGreaterThanOrEqual(20);
}, 60_000);

describe('an applied object that does not work is reported', () => {
  const server = (name: string, more = '') =>
    `mcpServers:\n  ${name}: { command: ${process.execPath}, args: [${demoServer}]${more} }\n`;
  const skill = (...tools: readonly string[]) => `skills:\n  - { name: adds, tools: [${tools}] }\n`;

  test.each([
    ['nothing when all works', server('demo') + skill('demo/add'), []],
    ['nothing of a disabled one', server('off', ', enabled: false') + skill('off/add'), []],
    [
      'a missing command and a missing folder',
      `${server('lost', ', cwd: /svc-test-nowhere')}  ghost: { command: svc-test-nothing }\n${skill('lost/add')}`,
      [
        /^The MCP server "ghost" is Error\. .*svc-test-nothing/,
        /^The MCP server "lost" is Error\. .*\/svc-test-nowhere/,
      ],
    ],
    [
      'a tool that an MCP server does not offer',
      server('demo') + skill('demo/ad', 'demo/add', 'demo/eco'),
      [
        /^The skill "adds" has a problem: The MCP server "demo" does not offer the tool "(ad|eco)" now\. List its tools: svc server show demo\./,
      ],
    ],
  ])('%s, the first time and the next', async (_, yaml, messages) => {
    const { write, problems } = await open();
    write(yaml);
    for (let run = 0; run < 2; run++) {
      expect((await problems()).sort()).toEqual(messages.map((words) => expect.stringMatching(words)));
    }
  });

  test('a skill with tools of an MCP server that the file does not name', async () => {
    const { write, problems } = await open();
    write('mcpServers:\n  ghost: { command: svc-test-nothing }\n');
    await problems();
    write(skill('ghost/boo'));
    expect(await problems()).toEqual([expect.stringMatching(/^The skill "adds" has a problem: .*"ghost" is Error/)]);
  });

  test('an MCP server without an outcome is waited for within a limit', async () => {
    const { write, problems } = await open();
    write(`mcpServers:\n  mute: { command: sleep, args: ["600"] }\n`);
    const waited: string[] = [];
    const messages = await problems({ patienceMs: 1000, onWait: (names) => void waited.push(...names) });
    expect(waited).toEqual(['mute']);
    expect(messages).toEqual([expect.stringMatching(/^The MCP server "mute" is Disconnected\./)]);
  });
});
