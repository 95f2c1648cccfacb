import { describe, expect, test } from 'vitest';
import type { LaunchInput } from '../../services/contracts/launch.ts';
import { checkPlan } from './check-plan.ts';
import type { LiveWorkspace } from './live-workspace.ts';
import { planChanges } from './plan-changes.ts';
import type { WantedMcpServer, WantedRole, WantedSkill, WantedWorkspace } from './wanted-workspace.ts';

const named = (name: string, line: number) => ({ name, place: { file: 'p.yaml', line, column: 1 } });
const url = 'https://crm.example/mcp';
const mcpServer = (name: string, line = 1, more: Partial<WantedMcpServer> = {}): WantedMcpServer => ({
  ...named(name, line),
  ...{
    launch: { url, headers: [] },
    runtime: null,
    enabled: true,
    startTimeout: undefined,
    callTimeout: undefined,
    ...more,
  },
});
const skill = (name: string, line = 1, tools: WantedSkill['tools'] = []): WantedSkill => ({
  ...named(name, line),
  ...{ description: 'Read', instructions: '', tools, files: undefined },
});
const role = (name: string, line = 1, skills: readonly string[] = []): WantedRole => ({
  ...named(name, line),
  ...{ description: '', enabled: true, skills, readOnly: false, allow: [], deny: [] },
});
const toolsOf = (...mcpServers: readonly string[]) =>
  mcpServers.map((server, index) => ({ mcpServer: server, tool: `tool-${index}` }));

const npx = { command: 'npx', args: ['-y'], cwd: null, env: [{ name: 'A', value: 'b' }] };
const wanted: WantedWorkspace = {
  workspace: 'Default',
  sections: new Set(['mcpServers', 'skills', 'roles']),
  mcpServers: [mcpServer('files', 1, { launch: npx, callTimeout: 0 }), mcpServer('crm')],
  skills: [skill('read', 1, toolsOf('files', 'files'))],
  roles: [role('Reader', 1, ['read'])],
};
const judged = new Map([
  ['files', { launchFingerprint: 'f-files', launchRefusal: null, mcpServer: { changedSettings: ['env.A'] } }],
  ['crm', { launchFingerprint: 'f-crm', launchRefusal: null, mcpServer: { changedSettings: ['headers.x-key'] } }],
]);

const launches = new Map();
const empty: LiveWorkspace = {
  id: 'w',
  mcpServers: [],
  skills: [],
  roles: [],
  runtimes: ['cloud'],
  launches,
  judged,
  files: new Map(),
};
const noLaunch = {
  ...{ command: null, args: null, cwd: null, url: null, fingerprint: 'other' },
  ...{ env: [], headers: [], settings: [], setBy: 'operator' as const },
};
const noDeadlines = { startTimeout: null, callTimeout: null };
const files = {
  ...noDeadlines,
  ...{ id: '1', name: 'files', enabled: true, version: 1, runtimes: [] },
  launch: { ...noLaunch, command: 'npx', args: ['-y'], fingerprint: 'f-files' },
};
const crm = {
  ...noDeadlines,
  ...{ id: '2', name: 'crm', enabled: true, version: 1, runtimes: [{ name: 'cloud', platform: true }] },
  launch: { ...noLaunch, url, fingerprint: 'f-crm' },
};
const read = {
  ...{ id: '3', name: 'read', description: 'Read', instructions: '', version: 1 },
  namedTools: ['tool-1', 'tool-0'].map((originalName) => ({ originalName, mcpServer: { name: 'files' } })),
  patterns: [],
};
const reader = {
  ...{ id: '4', name: 'Reader', description: '', enabled: true, version: 1, readOnly: false, rules: [] },
  skills: [{ id: '3', name: 'read' }],
};
const same: LiveWorkspace = { ...empty, mcpServers: [files, crm], skills: [read], roles: [reader] };

function changes(live: LiveWorkspace): readonly string[] {
  const plan = planChanges(wanted, live, { prune: false });
  return [...plan.mcpServers, ...plan.skills, ...plan.roles].map(
    ({ action, wanted: { name }, differences }) =>
      `${action} ${name}${differences.length === 0 ? '' : ` (${differences.map(({ field }) => field)})`}`,
  );
}

test('in an empty workspace, all is created', () => {
  expect(changes(empty)).toEqual(['create files', 'create crm', 'create read', 'create Reader']);
});

test('an equal workspace is not changed, whatever the order of tools', () => {
  expect(changes(same)).toEqual(['none files', 'none crm', 'none read', 'none Reader']);
});

const withServer = (changed: object): LiveWorkspace => ({ ...same, mcpServers: [{ ...files, ...changed }, crm] });
const withLaunch = (changed: object) => withServer({ launch: { ...files.launch, fingerprint: 'other', ...changed } });

test.each<readonly [what: string, live: LiveWorkspace, change: string]>([
  ['a command', withLaunch({ command: 'uvx' }), 'update files (command,env.A)'],
  ['arguments', withLaunch({ args: ['-y', 'x'] }), 'update files (args,env.A)'],
  ['a folder', withLaunch({ cwd: '/x' }), 'update files (cwd,env.A)'],
  ['only a secret', withLaunch({}), 'update files (env.A)'],
  ['from url to command', withLaunch({ ...noLaunch, url: 'https://x.example' }), 'update files (command,args,env.A)'],
  ['a launch that may not be seen', withServer({ launch: null }), 'update files (command,args,env.A)'],
  ['who set it', withLaunch({ fingerprint: 'f-files', setBy: 'member' }), 'update files (setBy)'],
  ['a deadline', withServer({ callTimeout: 5 }), 'update files (callTimeout)'],
  ['enabled', withServer({ enabled: false }), 'update files (enabled)'],
  ['the runtime', withServer({ runtimes: [{ name: 'edge', platform: false }] }), 'update files (runtime)'],
  [
    'a header',
    { ...same, mcpServers: [files, { ...crm, launch: { ...crm.launch, fingerprint: 'x' } }] },
    'update crm (headers.x-key)',
  ],
  ['a description', { ...same, skills: [{ ...read, description: 'x' }] }, 'update read (description)'],
  ['instructions', { ...same, skills: [{ ...read, instructions: 'x' }] }, 'update read (instructions)'],
  ['tools', { ...same, skills: [{ ...read, namedTools: read.namedTools.slice(1) }] }, 'update read (tools)'],
  [
    'patterns',
    { ...same, skills: [{ ...read, patterns: [{ pattern: '*', mcpServer: { name: 'files' } }] }] },
    'update read (tools)',
  ],
  ["a role's skills", { ...same, roles: [{ ...reader, skills: [] }] }, 'update Reader (skills)'],
  ['a read-only role', { ...same, roles: [{ ...reader, readOnly: true }] }, 'update Reader (readOnly)'],
  [
    'rules of a role',
    { ...same, roles: [{ ...reader, rules: [{ effect: 'deny', tool: 'a', mcpServer: { name: 'files' } }] }] },
    'update Reader (deny)',
  ],
  ['a role that is off', { ...same, roles: [{ ...reader, enabled: false }] }, 'update Reader (enabled)'],
])('a difference is named: %s', (_, live, change) => {
  expect(changes(live).filter((line) => !line.startsWith('none'))).toEqual([change]);
});

test('a field that the files do not name stays as it is', () => {
  const other = { description: 'Other', instructions: undefined };
  const partial = {
    ...wanted,
    mcpServers: [mcpServer('crm', 1, { enabled: undefined })],
    skills: [{ ...named('read', 1), tools: undefined, files: undefined, ...other }],
    roles: [named('Reader', 1)],
  };
  const off = { ...same, mcpServers: [files, { ...crm, enabled: false }], roles: [{ ...reader, enabled: false }] };
  const { mcpServers, skills, roles } = planChanges(partial, off, { prune: false });
  expect([...mcpServers, ...skills, ...roles].map(({ differences }) => differences)).toEqual([
    [],
    [{ field: 'description', from: 'Read', to: 'Other' }],
    [],
  ]);
});

test('rules of the effect that the files do not name stay, and their MCP server must exist', () => {
  const rules = [{ effect: 'allow', tool: 'a', mcpServer: { name: 'files' } }] as const;
  const live = { ...same, roles: [{ ...reader, rules }] };
  const deny = [{ mcpServer: 'gone', tool: 'b' }];
  const plan = planChanges({ ...wanted, roles: [{ ...named('Reader', 1), deny }] }, live, { prune: false });
  expect(plan.roles[0]?.differences).toEqual([{ field: 'deny', from: [], to: ['gone/b'] }]);
  expect(checkPlan(plan).map(({ message }) => message)).toEqual([
    expect.stringContaining('The role "Reader" has rules about tools of "gone", which is not an MCP server here.'),
  ]);
});

test('a difference has both values, and never a secret', () => {
  const live = withLaunch({ command: 'uvx', args: ['x', 'y'] });
  const [changed] = planChanges(wanted, live, { prune: false }).mcpServers;
  expect(changed?.differences).toEqual([
    { field: 'command', from: 'uvx', to: 'npx' },
    { field: 'args', from: '["x","y"]', to: '["-y"]' },
    { field: 'env.A', from: null, to: '[secret]' },
  ]);
});

test.each([
  ['a secret', [{ name: 'A', value: null }], { value: 'x', secret: true }, ['[secret]', '[secret]']],
  ['a plain value', [{ name: 'A', value: '1' }], { value: '2', secret: false }, ['1', '2']],
  ['a secret that becomes plain', [{ name: 'A', value: null }], { value: '2', secret: false }, ['[secret]', '2']],
  ['a new plain value', [], { value: '2', secret: false }, [null, '2']],
])('a difference of a setting has its values unless they are secret: %s', (_, env, setting, [from, to]) => {
  const files = mcpServer('files', 1, { launch: { ...npx, env: [{ name: 'A', ...setting }] } });
  const { mcpServers } = planChanges({ ...wanted, mcpServers: [files] }, withLaunch({ env }), { prune: false });
  expect(mcpServers[0]?.differences).toEqual([{ field: 'env.A', from, to }]);
});

test('a difference of a declared setting has its words, and their order counts', () => {
  const declared = { title: 'Token', description: 'From the account page.', secret: true, required: true };
  const live = [
    { ...declared, name: 'A' },
    { ...declared, name: 'B', title: '', description: '' },
  ];
  const differencesOf = (settings: LaunchInput['settings']) => {
    const launch = mcpServer('files', 1, { launch: { ...npx, env: [{ name: 'A', value: 'x' }], settings } });
    const { mcpServers } = planChanges({ ...wanted, mcpServers: [launch] }, withLaunch({ settings: live }), {
      prune: false,
    });
    return mcpServers[0]?.differences.filter(({ field }) => field.startsWith('settings'));
  };
  expect(
    differencesOf([
      { name: 'B', required: false },
      { name: 'C', secret: false },
    ]),
  ).toEqual([
    { field: 'settings.A', from: 'required, secret: Token · From the account page.', to: null },
    { field: 'settings.B', from: 'required, secret', to: 'optional, secret' },
    { field: 'settings.C', from: null, to: 'required' },
  ]);
  expect(differencesOf(live.toReversed())).toEqual([{ field: 'settings', from: 'A, B', to: 'B, A' }]);
  expect(differencesOf(live)).toEqual([]);
  expect(differencesOf(undefined)).toEqual([]);
});

test('a difference shows no secret that stands in an argument', () => {
  const token = 'ghp_abcdefghijklmnop1234';
  const [changed] = planChanges(wanted, withLaunch({ args: ['--token', token] }), { prune: false }).mcpServers;
  expect(changed?.differences).toContainEqual({ field: 'args', from: '["--token","[secret]"]', to: '["-y"]' });
  expect(JSON.stringify(changed?.differences)).not.toContain(token);
});

describe('prune', () => {
  const pruned = (workspace: Partial<WantedWorkspace>) => {
    const { removals } = planChanges({ ...wanted, ...workspace }, same, { prune: true });
    return [...removals.mcpServers, ...removals.skills, ...removals.roles].map(({ name }) => name);
  };

  test('removes what the files do not name', () => {
    expect(pruned({})).toEqual([]);
    expect(pruned({ mcpServers: [mcpServer('crm')], skills: [], roles: [] })).toEqual(['files', 'read', 'Reader']);
  });

  test('leaves the kinds alone that no file lists', () => {
    expect(pruned({ mcpServers: [], skills: [], roles: [], sections: new Set(['skills']) })).toEqual(['read']);
  });

  test('is refused where the files still refer to what it would remove', () => {
    const plan = planChanges({ ...wanted, mcpServers: [], skills: [skill('x', 3, toolsOf('crm'))] }, same, {
      prune: true,
    });
    expect(checkPlan(plan).map(({ message }) => message)).toEqual([
      'The skill "x" takes tools from "crm", which is not an MCP server here. There is none yet.',
      'The role "Reader" has "read", which is not a skill here. Known here: x.',
    ]);
  });
});

const mistakesOf = (workspace: Partial<WantedWorkspace>, live = empty) => {
  const plan = planChanges({ ...wanted, mcpServers: [], skills: [], roles: [], ...workspace }, live, { prune: false });
  return checkPlan(plan).map(({ line, message }) => `${line} ${message}`);
};

describe('an unknown name', () => {
  test('is reported at each place, all of them', () => {
    const mistaken = {
      mcpServers: [mcpServer('files', 2, { runtime: 'clod' })],
      skills: [skill('read', 4, toolsOf('fils', 'fils', 'crm'))],
      roles: [role('Reader', 6, ['raed'])],
    };
    expect(mistakesOf(mistaken)).toEqual([
      '2 The MCP server "files" runs on "clod", which is not a runtime here. Did you mean "cloud"?',
      '4 The skill "read" takes tools from "fils", which is not an MCP server here. Did you mean "files"?',
      '4 The skill "read" takes tools from "crm", which is not an MCP server here. Known here: files.',
      '6 The role "Reader" has "raed", which is not a skill here. Did you mean "read"?',
    ]);
  });

  test('may name an existing object', () => {
    const workspace = { skills: [skill('other', 1, toolsOf('files'))], roles: [role('Reader', 2, ['read'])] };
    expect(mistakesOf(workspace, same)).toEqual([]);
    expect(mistakesOf(workspace)).toEqual([
      '1 The skill "other" takes tools from "files", which is not an MCP server here. There is none yet.',
      '2 The role "Reader" has "read", which is not a skill here. Known here: other.',
    ]);
  });
});

test('a launch that the installation forbids is reported, unless it is there already', () => {
  const refused = new Map([...judged].map(([name, one]) => [name, { ...one, launchRefusal: 'Refused by a setting.' }]));
  const live = { ...same, judged: refused, mcpServers: [files] };
  expect(mistakesOf({ mcpServers: [mcpServer('files', 1, { launch: npx }), mcpServer('crm', 2)] }, live)).toEqual([
    '2 The MCP server "crm" is not allowed here. Refused by a setting.',
  ]);
});

describe("more than a workspace's limit", () => {
  const many = <Thing>(count: number, make: (name: string, line: number) => Thing) =>
    Array.from({ length: count }, (_, i) => make(`n${i}`, i + 1));
  const workspaceOf = (mcpServers: number, skills: number, roles: number) => ({
    mcpServers: many(mcpServers, mcpServer),
    skills: many(skills, skill),
    roles: many(roles, role),
  });

  test('is reported at the first entry beyond the limit', () => {
    expect(mistakesOf(workspaceOf(1000, 10_000, 1000))).toEqual([]);
    expect(mistakesOf(workspaceOf(1001, 10_001, 1002))).toEqual([
      '1001 A workspace may have 1000 MCP servers: the files add 1001.',
      '10001 A workspace may have 10000 skills: the files add 10001.',
      '1001 A workspace may have 1000 roles: the files add 1002.',
    ]);
  });

  test('counts existing objects, and those of the same name once', () => {
    expect(mistakesOf({ roles: [role('Reader'), ...many(999, role)] }, same)).toEqual([]);
    expect(mistakesOf({ roles: many(1000, role) }, same)).toEqual([
      '1000 A workspace may have 1000 roles: the files add 1000, and it has 1 already.',
    ]);
  });
});
