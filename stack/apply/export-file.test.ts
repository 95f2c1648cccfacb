import { expect, test } from 'vitest';
import { exportFile } from './export-file.ts';

const options = {
  folder: '/project',
  schema: 'node_modules/svc-platform/dist/schemas/apply.schema.json',
  skillFolders: new Map(),
};
const noLaunch = {
  command: null,
  args: null,
  cwd: null,
  url: null,
  env: [],
  headers: [],
  settings: [],
  fingerprint: 'f',
};
const launch = { ...noLaunch, setBy: 'operator' as const };
const server = { id: '1', enabled: true, version: 1, startTimeout: null, callTimeout: null, runtimes: [] };
const empty = { workspace: 'Default', mcpServers: [], skills: [], roles: [] };

const stdio = (name: string, env: readonly { name: string; value: string | null }[], cwd: string | null = null) => ({
  ...{ ...server, name, launch: { ...launch, command: 'npx', args: ['-y', name], cwd, env } },
});

test('everything is written, with the schema for editors and without defaults', () => {
  const { text, variables } = exportFile(
    {
      workspace: 'Acme',
      mcpServers: [
        stdio('files', [{ name: 'LOG', value: 'yes' }], '/project/docs'),
        {
          ...{
            ...server,
            name: 'crm',
            enabled: false,
            callTimeout: 300,
            runtimes: [{ name: 'edge', platform: false }],
          },
          launch: { ...launch, url: 'https://crm.example/mcp', headers: [{ name: 'X-Api-Key', value: null }] },
        },
      ],
      skills: [
        {
          ...{ id: '2', name: 'read', description: 'Read', instructions: '# Read\n\nCarefully.\n', version: 1 },
          namedTools: [{ originalName: 'read_file', mcpServer: { name: 'files' } }],
          patterns: [{ pattern: 'search_*', mcpServer: { name: 'crm' } }],
        },
      ],
      roles: [
        ...[
          {
            ...{ id: '3', name: 'Reader', description: '', enabled: true, version: 1, readOnly: true },
            skills: [{ id: '2', name: 'read' }],
            rules: [
              { effect: 'deny' as const, tool: 'write_*', mcpServer: { name: 'files' } },
              { effect: 'deny' as const, tool: 'delete', mcpServer: { name: 'crm' } },
            ],
          },
        ],
      ],
    },
    options,
  );
  expect(variables).toEqual(['CRM_X_API_KEY']);
  expect(text).toBe(`# yaml-language-server: $schema=node_modules/svc-platform/dist/schemas/apply.schema.json

workspace: Acme
mcpServers:
  crm:
    url: https://crm.example/mcp
    headers:
      X-Api-Key:
        fromEnv: CRM_X_API_KEY
    runtime: edge
    enabled: false
    callTimeout: 300
  files:
    command: npx
    args:
      - -y
      - files
    cwd: ./docs
    env:
      LOG: yes
skills:
  - name: read
    description: Read
    instructions:
      text: |
        # Read

        Carefully.
    tools:
      - crm/search_*
      - files/read_file
roles:
  - name: Reader
    skills:
      - read
    readOnly: true
    deny:
      - crm/delete
      - files/write_*
`);
});

test('a secret of one MCP server has its own name as variable, and one that several have gets that of the MCP server', () => {
  const mcpServers = [
    stdio('a-1', [{ name: 'TOKEN', value: null }]),
    stdio('b', [{ name: 'TOKEN', value: null }]),
    stdio('c', [{ name: 'OTHER', value: null }]),
  ];
  const { text, variables } = exportFile({ ...empty, mcpServers }, options);
  expect(variables).toEqual(['A_1_TOKEN', 'B_TOKEN', 'OTHER']);
  expect(text).toMatch(/TOKEN:\n +fromEnv: A_1_TOKEN\n/);
});

test('a folder elsewhere keeps its whole path', () => {
  const { text } = exportFile(
    { ...empty, mcpServers: [stdio('a', [], '/other'), stdio('b', [], '/project')] },
    options,
  );
  expect(text).toMatch(/cwd: \/other\n/);
  expect(text).toMatch(/cwd: \.\n/);
});

test('a secret in an argument or an address is not written', () => {
  const token = 'ghp_abcdefghijklmnop1234';
  const child = { ...launch, command: 'npx', args: ['x', '--token', token] };
  const http = { ...launch, url: `https://a.example/mcp?api_key=${token}` };
  const mcpServers = [child, http].map((one, at) => ({ ...server, name: `s${at}`, launch: one }));
  const { text } = exportFile({ ...empty, mcpServers }, options);
  expect(text).not.toContain(token);
  expect(text).toContain('[secret]');
});

test('declared settings are written without what is usual', () => {
  const usual = { title: '', description: '', secret: true, required: true };
  const one = stdio('a', [{ name: 'TOKEN', value: null }]);
  const settings = [
    { ...usual, name: 'TOKEN' },
    { name: 'LEVEL', title: 'Level', description: 'How much it tells.', secret: false, required: false },
  ];
  const { text, variables } = exportFile(
    { ...empty, mcpServers: [{ ...one, launch: { ...one.launch, settings } }] },
    options,
  );
  expect(variables).toEqual(['TOKEN']);
  expect(text).toContain(`
    settings:
      TOKEN: {}
      LEVEL:
        title: Level
        description: How much it tells.
        secret: false
        required: false
`);
});
