import { expect, test } from 'vitest';
import type { LiveWorkspace } from './live-workspace.ts';
import { planChanges } from './plan-changes.ts';
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
const judged = new Map([
  ['files', { launchFingerprint: 'f-files', launchRefusal: null }],
  ['crm', { launchFingerprint: 'f-crm', launchRefusal: null }],
]);

const nothing: LiveWorkspace = { id: 'w', mcpServers: [], skills: [], roles: [], runtimes: [], judged };
const noLaunch = { command: null, args: null, cwd: null, url: null, fingerprint: 'other', setBy: 'operator' } as const;
const files = {
  ...{ id: '1', name: 'files', enabled: true, version: 1, runtimes: [] },
  launch: { ...noLaunch, command: 'npx', args: ['-y'], fingerprint: 'f-files' },
};
const crm = {
  ...{ id: '2', name: 'crm', enabled: true, version: 1, runtimes: [{ name: 'cloud', platform: true }] },
  launch: { ...noLaunch, url: 'https://crm.example/mcp', fingerprint: 'f-crm' },
};
const skill = {
  ...{ id: '3', name: 'read', description: 'Read', instructions: '', version: 1 },
  tools: ['b', 'a'].map((originalName) => ({ originalName, mcpServer: { name: 'files' } })),
};
const role = {
  ...{ id: '4', name: 'Reader', description: '', enabled: true, version: 1 },
  skills: [{ id: '3', name: 'read' }],
};
const same: LiveWorkspace = { ...nothing, mcpServers: [files, crm], skills: [skill], roles: [role] };

function changes(live: LiveWorkspace): readonly string[] {
  const plan = planChanges(wanted, live);
  return [...plan.mcpServers, ...plan.skills, ...plan.roles].map(
    ({ action, wanted: { name }, fields }) => `${action} ${name}${fields.length === 0 ? '' : ` (${fields})`}`,
  );
}

test('in an empty workspace, all is created', () => {
  expect(changes(nothing)).toEqual(['create files', 'create crm', 'create read', 'create Reader']);
});

test('an equal workspace is not changed, whatever the order of tools', () => {
  expect(changes(same)).toEqual(['none files', 'none crm', 'none read', 'none Reader']);
});

const withServer = (changed: object): LiveWorkspace => ({ ...same, mcpServers: [{ ...files, ...changed }, crm] });
const withLaunch = (changed: object) => withServer({ launch: { ...files.launch, fingerprint: 'other', ...changed } });

test.each<readonly [what: string, live: LiveWorkspace, told: string]>([
  ['a command', withLaunch({ command: 'uvx' }), 'update files (command)'],
  ['arguments', withLaunch({ args: ['-y', 'x'] }), 'update files (args)'],
  ['a folder', withLaunch({ cwd: '/x' }), 'update files (cwd)'],
  ['only a secret', withLaunch({}), 'update files (env)'],
  ['from url to command', withLaunch({ ...noLaunch, url: 'https://x.example' }), 'update files (command,args)'],
  ['a launch that may not be seen', withServer({ launch: null }), 'update files (command,args)'],
  ['who set it', withLaunch({ fingerprint: 'f-files', setBy: 'member' }), 'update files (setBy)'],
  ['enabled', withServer({ enabled: false }), 'update files (enabled)'],
  ['the runtime', withServer({ runtimes: [{ name: 'edge', platform: false }] }), 'update files (runtime)'],
  [
    'a header',
    { ...same, mcpServers: [files, { ...crm, launch: { ...crm.launch, fingerprint: 'x' } }] },
    'update crm (headers)',
  ],
  ['a description', { ...same, skills: [{ ...skill, description: 'x' }] }, 'update read (description)'],
  ['instructions', { ...same, skills: [{ ...skill, instructions: 'x' }] }, 'update read (instructions)'],
  ['tools', { ...same, skills: [{ ...skill, tools: skill.tools.slice(1) }] }, 'update read (tools)'],
  ["a role's skills", { ...same, roles: [{ ...role, skills: [] }] }, 'update Reader (skills)'],
  ['a role that is off', { ...same, roles: [{ ...role, enabled: false }] }, 'update Reader (enabled)'],
])('a difference is named: %s', (_, live, told) => {
  expect(changes(live).filter((line) => !line.startsWith('none'))).toEqual([told]);
});
