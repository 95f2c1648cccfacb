import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { connectToBackend } from '../../stack/client/backend-client.ts';
import { installationIn } from '../../stack/state/installation.ts';
import { runHeld } from './run-held.ts';
import { withRunningPlatform } from './running-platform.ts';

/** Somebody else changes an object between the reading of a command and its writing, or while it waits. */
const platform = withRunningPlatform();
const demo = fileURLToPath(new URL('../../templates/demo/server.mjs', import.meta.url));
const secret = 'a-secret-of-somebody-else';

let backend: Awaited<ReturnType<typeof connectToBackend>>;
/** Id of the workspace Default. */
let home = '';

const withId = z.record(z.string(), z.looseObject({ id: z.string() }));
async function change(text: string): Promise<string> {
  const made = withId.safeParse(await backend.send({ text: `mutation { made: ${text} }` }, {}));
  return made.data?.made?.id ?? '';
}
const create = (field: string, input: string) =>
  change(`create${field}(workspace: "${home}", input: { ${input} }) { id }`);

type Kind = 'server' | 'skill' | 'role' | 'key' | 'member' | 'workspace' | 'runtime' | 'nothing';

const launched = `launch: { command: "${process.execPath}", args: ["${demo}"] }`;
const makers: Readonly<Record<Kind, (name: string) => Promise<string>>> = {
  server: (name) => create('McpServer', `name: "${name}", enabled: false, ${launched}`),
  skill: (name) => create('Skill', `name: "${name}", description: "a"`),
  role: (name) => create('Role', `name: "${name}", description: "a"`),
  key: async (name) => {
    const created = await backend.send(
      { text: `mutation { createKey(workspace: "${home}", input: { name: "${name}" }) { key { id } } }` },
      {},
    );
    return z.object({ createKey: z.object({ key: z.object({ id: z.string() }) }) }).parse(created).createKey.key.id;
  },
  member: (name) =>
    change(`addMember(workspace: "${home}", input: { email: "${name}@example.com", role: viewer }) { id }`),
  workspace: (name) => change(`createWorkspace(input: { name: "${name}", ownerEmail: "owner@example.com" }) { id }`),
  runtime: async (name) => {
    const text = `mutation { registerRuntime(workspace: "${home}", name: "${name}") { runtime { id } } }`;
    const made = z.object({ registerRuntime: z.object({ runtime: z.object({ id: z.string() }) }) });
    return made.parse(await backend.send({ text }, {})).registerRuntime.runtime.id;
  },
  nothing: async () => '',
};

/** All that people can set, so that nothing of a change by somebody else can be lost unseen. */
const looks = {
  server: 'mcpServers { nodes { id name enabled version startTimeout callTimeout launch { fingerprint } } }',
  skill: 'skills { nodes { id name description version files { path digest } roles { name } } }',
  role: 'roles { nodes { id name description enabled version skills { name } } }',
  key: 'keys { nodes { id name disclosure state version expiresAt roles { name } } }',
  member: 'members { nodes { id role suspended version } }',
  runtime: 'runtimes { nodes { id name } }',
} as const;
async function stateOf(id: string): Promise<string> {
  const text = `{ workspaces { nodes { id name suspended skills { nodes { id name } } } } workspace(id: "${home}") { ${Object.values(looks).join(' ')} } }`;
  const own: unknown[] = [];
  JSON.stringify(await backend.send({ text }, {}), (_, value) => {
    if (value?.id === id) own.push(value);
    return value;
  });
  return JSON.stringify(own);
}

interface Held {
  readonly id: string;
  readonly name: string;
  /** The arguments of a mutation. */
  readonly at: string;
}

interface Row {
  readonly of: Kind;
  /** X stands for the name of the object. */
  readonly command: string;
  readonly held: string;
  readonly before?: (own: Held) => Promise<unknown>;
  /** `made` is the id that `before` returned. */
  readonly theirs: (own: Held, made: string) => Promise<unknown>;
  readonly message: string;
  readonly hint: string;
}

const present = (command: string) => `Show the present state: svc ${command}. Then try again.`;
const changedServer = {
  message: 'The MCP server "X" was changed meanwhile by operator',
  hint: present('server show "X"'),
};
const changedSkill = { message: 'The skill "X" was changed meanwhile by operator', hint: present('skill show "X"') };
const changedRole = { message: 'The role "X" was changed meanwhile by operator', hint: present('role show "X"') };
const changedKey = { message: 'The key "X" was changed meanwhile by operator', hint: present('keys show "X"') };
const told = (one: { readonly message: string; readonly hint: string }, what: string) => ({
  ...one,
  message: `${one.message}: ${what}.`,
});

/** After its own change, while it waits. */
const whileWaiting = (what: string, did: string) => ({
  message: `${changedServer.message}: ${what}. This command had ${did} it before.`,
  hint: 'Show the present state: svc server list',
});
const setServer = (input: string) => (own: Held) => change(`updateMcpServer(${own.at}, input: { ${input} }) { id }`);
async function serverNamed(name: string): Promise<Held> {
  const text = `{ workspace(id: "${home}") { mcpServer(name: "${name}") { id } } }`;
  const found = z.object({ workspace: z.object({ mcpServer: z.object({ id: z.string() }) }) });
  const { id } = found.parse(await backend.send({ text }, {})).workspace.mcpServer;
  return { id, name, at: `workspace: "${home}", id: "${id}"` };
}
const setSkill = (input: string) => (own: Held) => change(`updateSkill(${own.at}, input: { ${input} }) { id }`);
const setRole = (input: string) => (own: Held) => change(`updateRole(${own.at}, input: { ${input} }) { id }`);
const setKey = (input: string) => (own: Held) => change(`updateKey(${own.at}, input: { ${input} }) { id }`);
const setMember = (input: string) => (own: Held) => change(`updateMember(${own.at}, input: { ${input} }) { id }`);
const inRole = (own: Held) => create('Role', `name: "Has ${own.name}", skills: ["${own.id}"]`);
const secretSetting = `${launched.slice(0, -2)}, env: [{ name: "TOKEN", value: "${secret}" }] }`;
/** Adds a file to the skill, or replaces it. */
const putFile = (bytes: string) => async (own: Held) => {
  const digest = createHash('sha256').update(bytes).digest('hex');
  const input = `{ path: "a.md", digest: "${digest}", sizeBytes: ${bytes.length} }`;
  const text = `mutation { upload: addSkillFile(workspace: "${home}", skill: "${own.id}", input: ${input}) { url } }`;
  const { upload } = z.object({ upload: z.object({ url: z.string() }) }).parse(await backend.send({ text }, {}));
  await backend.upload(upload.url, Buffer.from(bytes));
};
const awaited = 'query McpServer\\(';

const rows: readonly Row[] = [
  {
    ...{ of: 'server', command: 'server update X --start-timeout 40', held: 'mutation UpdateMcpServer' },
    theirs: setServer('callTimeout: 5'),
    ...told(changedServer, 'callTimeout from none to 5'),
  },
  {
    ...{ of: 'server', command: 'server update X --env A=1', held: 'mutation UpdateMcpServer' },
    theirs: setServer(secretSetting),
    ...told(changedServer, 'settings with "TOKEN"'),
  },
  {
    ...{ of: 'server', command: 'server enable X', held: 'mutation UpdateMcpServer' },
    theirs: setServer('name: "Y"'),
    ...told(
      { message: changedServer.message.replace('X', 'Y'), hint: present('server show "Y"') },
      'name from "X" to "Y"',
    ),
  },
  {
    ...{
      of: 'server',
      command: 'server disable X',
      held: 'mutation UpdateMcpServer',
      before: setServer('enabled: true'),
    },
    theirs: setServer('startTimeout: 50'),
    ...told(changedServer, 'startTimeout from none to 50'),
  },
  {
    ...{ of: 'server', command: 'server update X --start-timeout 40', held: 'mutation UpdateMcpServer' },
    theirs: (own) => change(`removeMcpServer(${own.at})`),
    message: 'The MCP server "X" was removed meanwhile by operator.',
    hint: 'List those that exist: svc server list',
  },
  {
    ...{ of: 'server', command: 'server remove X', held: 'mutation RemoveMcpServer' },
    theirs: setServer('enabled: true'),
    ...told(changedServer, 'enabled from false to true'),
  },
  {
    ...{ of: 'server', command: 'server remove X', held: 'mutation RemoveMcpServer' },
    theirs: (own) => create('Skill', `name: "has-${own.name}", tools: [{ mcpServer: "${own.name}", tool: "*" }]`),
    message: 'Meanwhile the skill "has-X" depends on the MCP server "X" too. Nothing was removed.',
    hint: present('server show "X"'),
  },
  {
    ...{ of: 'skill', command: 'skill update X --description c', held: 'mutation UpdateSkill' },
    theirs: setSkill('description: "b"'),
    ...told(changedSkill, 'description from "a" to "b"'),
  },
  {
    ...{ of: 'skill', command: 'skill update X --description c', held: 'mutation UpdateSkill' },
    theirs: (own) => change(`removeSkill(${own.at})`),
    message: 'The skill "X" was removed meanwhile by operator.',
    hint: 'List those that exist: svc skill list',
  },
  {
    ...{ of: 'skill', command: 'skill remove X', held: 'mutation RemoveSkill' },
    theirs: (own) => setSkill(`name: "y-${own.name}"`)(own),
    ...told(
      { message: changedSkill.message.replace('X', 'y-X'), hint: present('skill show "y-X"') },
      'name from "X" to "y-X"',
    ),
  },
  {
    ...{ of: 'skill', command: 'skill remove X', held: 'mutation RemoveSkill', theirs: inRole },
    message: 'Meanwhile the role "Has X" depends on the skill "X" too. Nothing was removed.',
    hint: present('skill show "X"'),
  },
  {
    ...{ of: 'skill', command: 'skill remove X', held: 'mutation RemoveSkill', theirs: putFile('b') },
    ...told(changedSkill, 'file a.md added'),
  },
  {
    ...{ of: 'skill', command: 'skill import FOLDER/X --replace', held: 'mutation UpdateSkill' },
    theirs: setSkill('description: "b"'),
    ...told(changedSkill, 'description from "a" to "b"'),
  },
  {
    ...{ of: 'skill', command: 'file add X FOLDER/a.md', held: 'mutation AddSkillFile', theirs: putFile('b') },
    message: 'The file "a.md" of the skill "X" was added meanwhile: sha256 3e23e8160039.',
    hint: present('file list "X"'),
  },
  {
    ...{ of: 'skill', command: 'file add X FOLDER/a.md', held: '^PUT', before: putFile('b'), theirs: putFile('c') },
    message: 'The file "a.md" of the skill "X" was changed meanwhile: sha256 from 3e23e8160039 to 2e7d2c03a950.',
    hint: present('file list "X"'),
  },
  {
    ...{ of: 'skill', command: 'file remove X a.md', held: 'mutation RemoveSkillFile' },
    ...{ before: putFile('b'), theirs: putFile('c') },
    message: 'The file "a.md" of the skill "X" was changed meanwhile: sha256 from 3e23e8160039 to 2e7d2c03a950.',
    hint: present('file list "X"'),
  },
  {
    ...{ of: 'role', command: 'role update X --disable', held: 'mutation UpdateRole' },
    theirs: setRole('description: "b"'),
    ...told(changedRole, 'description from "a" to "b"'),
  },
  {
    ...{ of: 'role', command: 'role update X --add-skill leaving', held: 'mutation UpdateRole' },
    theirs: async () => change(`removeSkill(workspace: "${home}", id: "${leaving}")`),
    message: 'The skill "leaving" was removed meanwhile by operator.',
    hint: 'List those that exist: svc skill list',
  },
  {
    ...{ of: 'role', command: 'role remove X', held: 'mutation RemoveRole' },
    theirs: setRole('enabled: false'),
    ...told(changedRole, 'enabled from true to false'),
  },
  {
    ...{ of: 'role', command: 'role remove X', held: 'mutation RemoveRole' },
    theirs: (own) =>
      change(`createKey(workspace: "${home}", input: { name: "has ${own.name}", roles: ["${own.id}"] }) { secret }`),
    message: 'Meanwhile the key "has X" depends on the role "X" too. Nothing was removed.',
    hint: present('role show "X"'),
  },
  {
    ...{ of: 'key', command: 'keys update X --expires 30d', held: 'mutation UpdateKey' },
    theirs: setKey('disclosure: all'),
    ...told(changedKey, 'disclosure from "skills" to "all"'),
  },
  {
    ...{ of: 'key', command: 'keys revoke X', held: 'mutation RevokeKey' },
    theirs: setKey('disclosure: all'),
    ...told(changedKey, 'disclosure from "skills" to "all"'),
  },
  {
    ...{ of: 'key', command: 'keys revoke X', held: 'mutation RevokeKey' },
    theirs: (own) => change(`rotateKey(${own.at}) { secret }`),
    ...told(changedKey, 'another key replaces it'),
  },
  {
    ...{ of: 'key', command: 'keys rotate X --finish --yes', held: 'mutation RevokeKey' },
    ...{ before: (own) => change(`rotateKey(${own.at}) { secret }`), theirs: setKey('disclosure: all') },
    ...told(changedKey, 'disclosure from "skills" to "all"'),
  },
  {
    ...{ of: 'member', command: 'user update X@example.com --role editor', held: 'mutation UpdateMember' },
    theirs: setMember('suspended: true'),
    message: 'The member "X@example.com" was changed meanwhile by operator: suspended from false to true.',
    hint: present('user list'),
  },
  {
    ...{ of: 'member', command: 'user remove X@example.com', held: 'mutation RemoveMember' },
    theirs: setMember('role: admin'),
    message: 'The member "X@example.com" was changed meanwhile by operator: role from "viewer" to "admin".',
    hint: present('user list'),
  },
  {
    ...{ of: 'workspace', command: 'workspace update X --suspend', held: 'mutation UpdateWorkspace' },
    theirs: (own) => change(`updateWorkspace(id: "${own.id}", input: { name: "${own.name} new" }) { id }`),
    message: 'The workspace "X new" was changed meanwhile: name from "X" to "X new".',
    hint: present('workspace list'),
  },
  {
    ...{ of: 'workspace', command: 'workspace remove X --confirm X', held: 'mutation RemoveWorkspace' },
    theirs: (own) => change(`createSkill(workspace: "${own.id}", input: { name: "new" }) { id }`),
    message: 'The workspace "X" was changed meanwhile: operator created skill "new". Nothing was removed.',
    hint: present('audit --workspace "X"'),
  },
  {
    ...{ of: 'runtime', command: 'runtime revoke X --yes', held: 'mutation RevokeRuntime' },
    theirs: (own) => create('McpServer', `name: "on-${own.name}", runtime: "${own.name}", ${launched}`),
    message: 'Meanwhile the MCP server "on-X" depends on the runtime "X" too. Nothing was removed.',
    hint: present('runtime list'),
  },
  {
    ...{
      of: 'skill',
      command: 'apply FOLDER/X.yaml',
      held: 'mutation UpdateSkill',
      theirs: setSkill('description: "b"'),
    },
    ...told(changedSkill, 'description from "a" to "b"'),
  },
  {
    ...{ of: 'workspace', command: 'apply FOLDER/only-X.yaml --prune --yes', held: 'mutation RemoveSkill' },
    before: (own) => change(`createSkill(workspace: "${own.id}", input: { name: "gone", description: "a" }) { id }`),
    theirs: (own, skill) =>
      change(`updateSkill(workspace: "${own.id}", id: "${skill}", input: { description: "b" }) { id }`),
    message: 'The skill "gone" was changed meanwhile by operator: description from "a" to "b".',
    hint: present('skill show "gone"'),
  },
  {
    ...{ of: 'nothing', command: 'server add X -- node x.js', held: 'mutation CreateMcpServer' },
    theirs: ({ name }) => makers.server(name),
    message: 'Another MCP server is named "X" already.',
    hint: 'Choose another name, or change that one: svc server update NAME',
  },
  {
    ...{ of: 'nothing', command: 'keys create X', held: 'mutation CreateKey', theirs: ({ name }) => makers.key(name) },
    message: 'A key named "X" exists already.',
    hint: 'Choose another name, or replace that key by a new one: svc keys rotate "X"',
  },
  {
    ...{ of: 'nothing', command: 'server add X -- node DEMO', held: awaited },
    theirs: async ({ name }) => setServer('enabled: false')(await serverNamed(name)),
    ...whileWaiting('enabled from true to false', 'added'),
  },
  {
    ...{ of: 'server', command: 'server enable X', held: awaited, theirs: setServer('enabled: false') },
    ...whileWaiting('enabled from true to false', 'enabled'),
  },
  {
    ...{ of: 'server', command: 'server disable X', held: awaited, theirs: setServer('enabled: true') },
    ...{ before: setServer('enabled: true') },
    ...whileWaiting('enabled from false to true', 'disabled'),
  },
  {
    ...{ of: 'server', command: 'server update X --env A=1', held: awaited, theirs: setServer('enabled: false') },
    ...{ before: setServer('enabled: true') },
    ...whileWaiting('enabled from true to false', 'changed'),
  },
  {
    ...{ of: 'server', command: 'server restart X', held: awaited, theirs: setServer('enabled: false') },
    ...{ before: setServer('enabled: true') },
    ...whileWaiting('enabled from true to false', 'restarted'),
  },
  {
    ...{ of: 'server', command: 'server test X', held: awaited, theirs: (own) => change(`removeMcpServer(${own.at})`) },
    message: 'The MCP server "X" was removed meanwhile by operator.',
    hint: 'Show the present state: svc server list',
  },
];

let leaving = '';
/** A folder outside of the installation. */
const mine = realpathSync(mkdtempSync(join(tmpdir(), 'svc-conflicts-')));
afterAll(() => rmSync(mine, { recursive: true, force: true }));
beforeAll(async () => {
  backend = await connectToBackend(installationIn(platform.dir()));
  const { workspace } = z
    .object({ workspace: z.object({ id: z.string() }) })
    .parse(await backend.send({ text: '{ workspace(name: "Default") { id } }' }, {}));
  home = workspace.id;
  leaving = await makers.skill('leaving');
  writeFileSync(join(mine, 'a.md'), 'a');
});

describe('somebody else was faster, and the command says what changed and changes nothing', () => {
  test.concurrent.each(rows.map((row, at) => [row.command, `x${at}`, row] as const))(
    'svc %s (%s)',
    async (command, name, row) => {
      const id = await makers[row.of](name);
      const own: Held = { id, name, at: `workspace: "${home}", id: "${id}"` };
      const made = String(await row.before?.(own));
      const named = (text: string) => text.replaceAll('X', name);
      const folder = join(mine, name);
      writeFileSync(join(mine, `only-${name}.yaml`), `workspace: ${name}\nskills: []\n`);
      if (row.of === 'skill') {
        mkdirSync(folder, { recursive: true });
        writeFileSync(join(folder, 'SKILL.md'), `---\nname: ${name}\ndescription: c\n---\n`);
        writeFileSync(join(mine, `${name}.yaml`), `skills:\n  - { name: ${name}, description: c }\n`);
      }
      let theirs = '';
      const meanwhile = async () => {
        await row.theirs(own, made);
        theirs = await stateOf(id);
      };
      const [first = '', ...rest] = named(command).replace('FOLDER', mine).replace('DEMO', demo).split(' -- ');
      const words = [
        ...first.split(' '),
        '--json',
        '--no-input',
        ...rest.flatMap((part) => ['--', ...part.split(' ')]),
      ];
      const { code, stdout, stderr } = await runHeld(words, { cwd: platform.dir(), held: row.held, meanwhile });
      const { error } = JSON.parse(stdout);
      expect([stderr, code, error]).toEqual([
        expect.anything(),
        5,
        { code: 'conflict', message: named(row.message), hint: named(row.hint) },
      ]);
      expect(stdout + stderr).not.toContain(secret);
      expect(await stateOf(id)).toBe(theirs);
    },
    30_000,
  );
});

describe('somebody else was faster', () => {
  const held = (words: readonly string[], request: string, meanwhile: () => Promise<unknown>) =>
    runHeld([...words, '--json', '--no-input'], { cwd: platform.dir(), held: request, meanwhile });
  const rolesOf = (id: string) =>
    backend.send({ text: `{ workspace(id: "${home}") { skill(id: "${id}") { roles { name } } } }` }, {});

  test('and both skills are in the role', async () => {
    const [one, other] = [await makers.skill('one'), await makers.skill('other')];
    const add = () => create('Role', `name: "Everyone", skills: ["${other}"]`);
    expect(await held(['skill', 'publish', 'one'], 'mutation CreateRole', add)).toMatchObject({ code: 0 });
    for (const id of [one, other]) expect(JSON.stringify(await rolesOf(id))).toContain('Everyone');
  });

  test('and a skill that got another role is no draft', async () => {
    const id = await makers.skill('draft');
    const add = (name: string) => create('Role', `name: "${name}", skills: ["${id}"]`);
    await add('Old');
    const words = ['skill', 'publish', 'draft', '--draft', '--yes'];
    const { code, stdout } = await held(words, 'mutation UpdateRole', () => add('New'));
    expect([code, JSON.parse(stdout).error]).toEqual([
      5,
      {
        code: 'conflict',
        message: 'Meanwhile the role "New" got the skill "draft" too, and has it.',
        hint: 'Take it out of that role, too: svc skill publish draft --draft --yes',
      },
    ]);
  });

  test('and an import leaves the MCP server of somebody else alone', async () => {
    const own = { id: await makers.server('imported'), name: 'imported' };
    const file = join(mine, 'mcp.json');
    writeFileSync(file, JSON.stringify({ mcpServers: { imported: { command: 'other' } } }));
    const theirs = () =>
      change(`updateMcpServer(workspace: "${home}", id: "${own.id}", input: { callTimeout: 5 }) { id }`);
    const words = ['server', 'import', file, '--replace', '--yes'];
    const { code, stdout } = await held(words, 'mutation UpdateMcpServer', theirs);
    expect([code, JSON.parse(stdout).mcpServers]).toEqual([
      5,
      [
        expect.objectContaining({
          action: 'refused',
          reason: `The MCP server "imported" was changed meanwhile by operator: callTimeout from none to 5. ${present('server show "imported"')}`,
        }),
      ],
    ]);
  });

  test.each([
    ['removed', (at: string) => `removeMcpServer(${at})`, 'Somebody removed the MCP server "applied" meanwhile.'],
    [
      'disabled',
      (at: string) => `updateMcpServer(${at}, input: { enabled: false }) { id }`,
      'The MCP server "applied" is Disconnected.',
    ],
  ])('and apply says that an MCP server was %s', async (_, theirs, message) => {
    const file = join(mine, 'applied.yaml');
    writeFileSync(file, `mcpServers:\n  applied: { command: ${process.execPath}, args: [${demo}] }\n`);
    const { code, stdout } = await held(['apply', file], 'query McpServersApplied', async () =>
      change(theirs((await serverNamed('applied')).at)),
    );
    expect([code, JSON.parse(stdout).problems]).toEqual([
      1,
      [
        expect.objectContaining({
          kind: 'mcpServer',
          message: expect.stringContaining(message),
          hint: expect.stringMatching(/svc/),
        }),
      ],
    ]);
  });
});
