import { describe, expect, test } from 'vitest';
import { planChanges } from './plan-changes.ts';
import type { Live } from './read-live.ts';
import type { WantedWorkspace } from './wanted-workspace.ts';

const place = { file: 'p.yaml', line: 1, column: 1 };
const wanted: WantedWorkspace = {
  workspace: 'Default',
  mcpServers: [
    {
      name: 'files',
      place,
      launch: { command: 'npx', args: ['-y'], cwd: null, env: [{ name: 'A', value: 'b' }] },
      runtime: null,
      enabled: true,
    },
    { name: 'crm', place, launch: { url: 'https://crm.example/mcp', headers: [] }, runtime: null, enabled: true },
  ],
  skills: [
    {
      name: 'read',
      place,
      description: 'Read',
      instructions: '',
      tools: [
        { mcpServer: 'files', tool: 'a' },
        { mcpServer: 'files', tool: 'b' },
      ],
    },
  ],
  roles: [{ name: 'Reader', place, description: '', enabled: true, skills: ['read'] }],
};
const fingerprints = ['f-files', 'f-crm'];

const nothing: Live = { workspaceId: 'w', mcpServers: [], skills: [], roles: [], runtimes: [] };
const same: Live = {
  workspaceId: 'w',
  mcpServers: [
    {
      id: '1',
      name: 'files',
      enabled: true,
      version: 1,
      launch: { command: 'npx', args: ['-y'], cwd: null, url: null, fingerprint: 'f-files', setBy: 'operator' },
      runtimes: [],
    },
    {
      id: '2',
      name: 'crm',
      enabled: true,
      version: 1,
      launch: {
        command: null,
        args: null,
        cwd: null,
        url: 'https://crm.example/mcp',
        fingerprint: 'f-crm',
        setBy: 'operator',
      },
      runtimes: [{ name: 'cloud', platform: true }],
    },
  ],
  skills: [
    {
      id: '3',
      name: 'read',
      description: 'Read',
      instructions: '',
      version: 1,
      tools: [
        { originalName: 'b', mcpServer: { name: 'files' } },
        { originalName: 'a', mcpServer: { name: 'files' } },
      ],
    },
  ],
  roles: [{ id: '4', name: 'Reader', description: '', enabled: true, version: 1, skills: [{ id: '3', name: 'read' }] }],
  runtimes: ['cloud'],
};

function changes(live: Live, options: { wanted?: WantedWorkspace; prune?: boolean } = {}): readonly string[] {
  const plan = planChanges({ wanted: options.wanted ?? wanted, live, fingerprints, prune: options.prune ?? false });
  return [...plan.mcpServers, ...plan.skills, ...plan.roles].map(
    ({ change: { action, kind, name, fields } }) =>
      `${action} ${kind} ${name}${fields.length === 0 ? '' : ` (${fields})`}`,
  );
}

test('in an empty workspace, all is created', () => {
  expect(changes(nothing)).toEqual([
    'create mcpServer files',
    'create mcpServer crm',
    'create skill read',
    'create role Reader',
  ]);
});

test('an equal workspace is not changed, whatever the order of tools', () => {
  expect(changes(same)).toEqual(['none mcpServer files', 'none mcpServer crm', 'none skill read', 'none role Reader']);
});

describe('a difference is named', () => {
  const [files, crm] = same.mcpServers;
  const [skill] = same.skills;
  const [role] = same.roles;
  if (files === undefined || crm === undefined || skill === undefined || role === undefined)
    throw new Error('incomplete');
  const withServer = (changed: Partial<typeof files>): Live => ({
    ...same,
    mcpServers: [{ ...files, ...changed }, crm],
  });
  const launch = (changed: object) =>
    withServer({
      launch: {
        ...files.launch,
        command: 'npx',
        args: ['-y'],
        cwd: null,
        url: null,
        fingerprint: 'other',
        setBy: 'operator',
        ...changed,
      },
    });
  const rows: readonly [what: string, live: Live, told: string][] = [
    ['a command', launch({ command: 'uvx' }), 'update mcpServer files (command)'],
    ['arguments', launch({ args: ['-y', 'x'] }), 'update mcpServer files (args)'],
    ['a folder', launch({ cwd: '/x' }), 'update mcpServer files (cwd)'],
    ['only a secret', launch({}), 'update mcpServer files (env)'],
    [
      'from url to command',
      launch({ command: null, args: null, url: 'https://x.example' }),
      'update mcpServer files (command,args)',
    ],
    ['a launch that may not be seen', withServer({ launch: null }), 'update mcpServer files (command,args)'],
    ['who set it', launch({ fingerprint: 'f-files', setBy: 'member' }), 'update mcpServer files (setBy)'],
    ['enabled', withServer({ enabled: false }), 'update mcpServer files (enabled)'],
    ['the runtime', withServer({ runtimes: [{ name: 'edge', platform: false }] }), 'update mcpServer files (runtime)'],
    [
      'a header',
      {
        ...same,
        mcpServers: [
          files,
          {
            ...crm,
            launch: {
              command: null,
              args: null,
              cwd: null,
              url: 'https://crm.example/mcp',
              fingerprint: 'x',
              setBy: 'operator',
            },
          },
        ],
      },
      'update mcpServer crm (headers)',
    ],
    ['a description', { ...same, skills: [{ ...skill, description: 'x' }] }, 'update skill read (description)'],
    ['instructions', { ...same, skills: [{ ...skill, instructions: 'x' }] }, 'update skill read (instructions)'],
    ['tools', { ...same, skills: [{ ...skill, tools: skill.tools.slice(1) }] }, 'update skill read (tools)'],
    ["a role's skills", { ...same, roles: [{ ...role, skills: [] }] }, 'update role Reader (skills)'],
    ['a role that is off', { ...same, roles: [{ ...role, enabled: false }] }, 'update role Reader (enabled)'],
  ];
  for (const [what, live, told] of rows) {
    test(what, () => expect(changes(live).filter((line) => !line.startsWith('none'))).toEqual([told]));
  }
});

test('an object that no file names stays, or is removed with prune', () => {
  const empty: WantedWorkspace = { workspace: 'Default', mcpServers: [], skills: [], roles: [] };
  expect(changes(same, { wanted: empty })).toEqual([]);
  expect(changes(same, { wanted: empty, prune: true })).toEqual([
    'delete mcpServer files',
    'delete mcpServer crm',
    'delete skill read',
    'delete role Reader',
  ]);
});
