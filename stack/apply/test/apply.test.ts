import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type BackendClient, connectToBackend } from '../../client/backend-client.ts';
import { createSkillMutation, createWorkspaceMutation } from '../../client/generated/operations.ts';
import { openTrial } from '../../operations/test/trial.ts';
import { up } from '../../operations/up.ts';
import { apply, type Change } from '../apply.ts';
import { findProblems, type ProblemSearch } from '../find-problems.ts';
import { readApplyFile } from '../read-file.ts';

const demoServer = fileURLToPath(new URL('../../../templates/demo/server.mjs', import.meta.url));

let trial: Awaited<ReturnType<typeof openTrial>>;
let backend: BackendClient;
let dir: string;

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'svc-apply-'));
  trial = await openTrial();
  await up({ env: process.env, installation: trial.installation });
  backend = await connectToBackend(trial.installation);
}, 60_000);
afterAll(async () => {
  await trial[Symbol.asyncDispose]();
  rmSync(dir, { recursive: true, force: true });
}, 60_000);

let count = 0;

/** A workspace for each test, and a file for it. */
async function open() {
  const workspace = `W${++count}`;
  const input = { name: workspace, ownerEmail: 'a@example.com' };
  await backend.send(createWorkspaceMutation, { input });
  const file = join(dir, `${workspace}.yaml`);
  return {
    workspace,
    write: (yaml: string) => writeFileSync(file, `workspace: ${workspace}\n${yaml}`),
    apply: async (options: { dryRun?: boolean; env?: Record<string, string> } = {}) =>
      (await apply({ backend, files: [readApplyFile(file, options.env ?? {})], ...options })).changes,
    /** Reported problems of applied objects that do not work. */
    problems: async (options: Partial<ProblemSearch> = {}) => {
      const { plans } = await apply({ backend, files: [readApplyFile(file, {})] });
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
const env = { TOKEN: 'first-secret' };

async function read(workspace: string) {
  const query = `query ($name: String) { workspace(name: $name) {
    revision roles { nodes { name skills { name } } } skills { nodes { name tools { originalName mcpServer { name } } } }
  } }`;
  // biome-ignore lint/suspicious/noExplicitAny: tests say what they expect of it
  return (await backend.query(query, { name: workspace }, (data): any => data)).workspace;
}

const revisionOf = async (workspace: string): Promise<number> => (await read(workspace)).revision;

test('the content of the file exists afterwards; later runs change what differs and remove nothing', async () => {
  const { workspace, write, apply: applyIt } = await open();
  write(example);
  const all = ['create files', 'create crm', 'create read-documents', 'create Reader'];
  const empty = await revisionOf(workspace);
  expect(lines(await applyIt({ env, dryRun: true }))).toEqual(all);
  expect(await revisionOf(workspace)).toBe(empty);
  expect(lines(await applyIt({ env }))).toEqual(all);
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
  expect(lines(await applyIt({ env }))).toEqual(all.map((line) => line.replace('create', 'none')));
  expect(await revisionOf(workspace)).toBe(revision);
  write(example.replace('description: Read', 'description: Read all'));
  expect(changed(await applyIt({ env }))).toEqual(['update read-documents (description)']);
  expect(await revisionOf(workspace)).toBe(revision + 1);
  write('');
  expect(await applyIt()).toEqual([]);
  expect(await revisionOf(workspace)).toBe(revision + 1);
});

test('a changed secret is noticed, reported by name, and never by value', async () => {
  const { write, apply: applyIt } = await open();
  write(example);
  await applyIt({ env });
  const changes = await applyIt({ env: { TOKEN: 'second-secret' } });
  expect(changed(changes)).toEqual(['update files (env)', 'update crm (headers)']);
  expect(JSON.stringify(changes)).not.toMatch(/first-secret|second-secret/);
  expect(changed(await applyIt({ env: { TOKEN: 'second-secret' } }))).toEqual([]);
});

test('an unknown workspace is named, with the known ones', async () => {
  const file = join(dir, 'typo.yaml');
  writeFileSync(file, 'workspace: Defalt\n');
  await expect(apply({ backend, files: [readApplyFile(file, {})] })).rejects.toMatchObject({
    code: 'not_found',
    message: 'There is no workspace "Defalt". Did you mean "Default"?',
  });
});

test('all mistakes that one check finds are reported at once, and nothing is changed', async () => {
  const { workspace, write, apply: applyIt } = await open();
  const revision = await revisionOf(workspace);
  const mistakesIn = async (yaml: string) => {
    write(yaml);
    const failure: Error = await applyIt().then(
      () => expect.fail('nothing was refused'),
      (error) => error,
    );
    expect(failure).toMatchObject({ code: 'invalid_input' });
    return failure.message.split('\n').map((line) => line.replace(/^.*?:(\d+):\d+ /, '$1 '));
  };
  expect(await mistakesIn('skills:\n  - { name: fine }\n  - { name: fine }\n')).toEqual([
    expect.stringMatching(/^4 The skill "fine" is defined already/),
  ]);
  const unknown = `mcpServers:
  files: { command: svc-test-nothing, enabled: false, runtime: clod }
skills:
  - { name: fine, tools: [fils/a] }
roles:
  - { name: Reader, skills: [missing] }
`;
  expect(await mistakesIn(unknown)).toEqual([
    '3 The MCP server "files" runs on "clod", which is not a runtime here. Did you mean "cloud"?',
    '5 The skill "fine" takes tools from "fils", which is not an MCP server here. Did you mean "files"?',
    expect.stringMatching(/^7 The role "Reader" has "missing", which is not a skill here/),
  ]);
  expect(await revisionOf(workspace)).toBe(revision);
});

test('a forbidden command is reported before anything is changed, unless it exists already', async () => {
  await using strict = await openTrial();
  const { definitionFile } = strict.installation;
  const yaml = 'mcpServers:\n  a: { command: one, enabled: false }\n';
  const file = join(dir, 'strict.yaml');
  const begin = async (commands: string) => {
    const text = readFileSync(definitionFile, 'utf8').replace(/^ {2}commands: .*$/m, `  commands: ${commands}`);
    writeFileSync(definitionFile, text);
    await up({ env: process.env, installation: strict.installation });
    return connectToBackend(strict.installation);
  };
  const before = await begin('any');
  writeFileSync(file, yaml);
  expect(lines((await apply({ backend: before, files: [readApplyFile(file, {})] })).changes)).toEqual(['create a']);

  const after = await begin('[npx]');
  writeFileSync(file, `${yaml}  b: { command: npx, enabled: false }\n  c: { command: node }\n  d: { command: sh }\n`);
  const rule = 'Refused by the setting runtime.commands: the command';
  await expect(apply({ backend: after, files: [readApplyFile(file, {})] })).rejects.toMatchObject({
    code: 'invalid_input',
    message: [
      ['4:3 The MCP server "c"', '"node"'],
      ['5:3 The MCP server "d"', '"sh"'],
    ]
      .map(([server, command]) => `${file}:${server} is not allowed here. ${rule} ${command} is not one of npx.`)
      .join('\n'),
  });
  writeFileSync(file, `${yaml}  b: { command: npx, enabled: false }\n`);
  expect(lines((await apply({ backend: after, files: [readApplyFile(file, {})] })).changes)).toEqual([
    'none a',
    'create b',
  ]);
}, 60_000);

test('a thousand skills are one file like any other', async () => {
  const { workspace, write, apply: applyIt } = await open();
  const skills = Array.from(
    { length: 1000 },
    (_, i) => `  - { name: skill-${i}, description: "Number ${i}", tools: [files/tool-${i % 10}] }\n`,
  );
  write(`mcpServers:\n  files: { command: svc-test-nothing, enabled: false }\nskills:\n${skills.join('')}`);
  expect(changed(await applyIt())).toHaveLength(1001);
  expect(changed(await applyIt())).toEqual([]);
  expect(await revisionOf(workspace)).toBeGreaterThan(1000);
}, 120_000);

test('an interruption ends it, and the next run finishes the rest', async () => {
  const { write, apply: applyIt, workspace } = await open();
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
  const begun = apply({
    backend: interrupting,
    files: [readApplyFile(join(dir, `${workspace}.yaml`), {})],
    signal: interrupt.signal,
  });
  await expect(begun).rejects.toMatchObject({ code: 'cancelled' });
  const rest = await applyIt();
  expect(rest).toHaveLength(200);
  expect(rest.filter(({ action }) => action === 'none').length).toBeGreaterThanOrEqual(20);
}, 60_000);

describe('an applied object that does not work is reported', () => {
  const server = (name: string, more = '') =>
    `mcpServers:\n  ${name}: { command: ${process.execPath}, args: [${demoServer}]${more} }\n`;

  test('nothing when all works, the first time and the next', async () => {
    const { write, problems } = await open();
    write(`${server('demo')}skills:\n  - { name: add, tools: [demo/add] }\n`);
    expect([await problems(), await problems()]).toEqual([[], []]);
  });

  test('a missing command and a missing folder', async () => {
    const { write, problems } = await open();
    write(`${server('lost', ', cwd: /svc-test-nowhere')}  ghost: { command: svc-test-nothing }\nskills:
  - { name: add, tools: [lost/add] }\n`);
    const told = await problems();
    expect(told.sort()).toEqual([
      expect.stringMatching(/^The MCP server "ghost" is Error\. .*svc-test-nothing/),
      expect.stringMatching(/^The MCP server "lost" is Error\. .*\/svc-test-nowhere/),
    ]);
    // It is still broken when nothing changes.
    expect(await problems()).toHaveLength(2);
  });

  test('a tool that an MCP server does not offer', async () => {
    const { write, problems } = await open();
    write(`${server('demo')}skills:\n  - { name: adds, tools: [demo/ad, demo/add, demo/eco] }\n`);
    expect(await problems()).toEqual([
      expect.stringMatching(
        /^The skill "adds" has a problem: The MCP server "demo" does not offer the tool "(ad|eco)" now\. List its tools: svc server show demo\./,
      ),
    ]);
  });

  test('a skill with tools of an MCP server that the file does not name', async () => {
    const { write, problems } = await open();
    write('mcpServers:\n  ghost: { command: svc-test-nothing }\n');
    await problems();
    write('skills:\n  - { name: haunt, tools: [ghost/boo] }\n');
    expect(await problems()).toEqual([expect.stringMatching(/^The skill "haunt" has a problem: .*"ghost" is Error/)]);
  });

  test('a disabled one is not a problem', async () => {
    const { write, problems } = await open();
    write(`${server('off', ', enabled: false')}skills:\n  - { name: add, tools: [off/add] }\n`);
    expect(await problems()).toEqual([]);
  });

  test('an MCP server without an outcome is waited for within a limit', async () => {
    const { write, problems } = await open();
    write(`mcpServers:\n  mute: { command: sleep, args: ["600"] }\n`);
    const waited: string[] = [];
    const told = await problems({ patienceMs: 1000, onWait: (names) => void waited.push(...names) });
    expect(waited).toEqual(['mute']);
    expect(told).toEqual([expect.stringMatching(/^The MCP server "mute" is Disconnected\./)]);
  });
});
