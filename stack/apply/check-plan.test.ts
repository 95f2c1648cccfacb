import { describe, expect, test } from 'vitest';
import { checkPlan } from './check-plan.ts';
import type { LiveWorkspace } from './live-workspace.ts';
import { planChanges } from './plan-changes.ts';
import type { WantedWorkspace } from './wanted-workspace.ts';

const at = (line: number) => ({ file: 'p.yaml', line, column: 1 });
const mcpServer = (name: string, line: number, runtime: string | null = null) => ({
  name,
  place: at(line),
  launch: { url: 'https://x.example/mcp', headers: [] },
  runtime,
  enabled: true,
});
const skill = (name: string, line: number, servers: readonly string[] = []) => ({
  name,
  place: at(line),
  description: '',
  instructions: '',
  tools: servers.map((server) => ({ mcpServer: server, tool: 'a' })),
});
const role = (name: string, line: number, skills: readonly string[] = []) => ({
  name,
  place: at(line),
  description: '',
  enabled: true,
  skills,
});

const wanted: WantedWorkspace = { workspace: 'Default', mcpServers: [], skills: [], roles: [] };
const nothing: LiveWorkspace = {
  ...{ id: 'w', mcpServers: [], skills: [], roles: [], runtimes: ['cloud'] },
  judged: new Map(),
};
const live: LiveWorkspace = {
  ...nothing,
  mcpServers: [{ id: '1', name: 'files', enabled: true, version: 1, launch: null, runtimes: [] }],
  skills: [{ id: '2', name: 'read', description: '', instructions: '', version: 1, tools: [] }],
  roles: [{ id: '3', name: 'Reader', description: '', enabled: true, version: 1, skills: [] }],
};
const told = (asked: Partial<WantedWorkspace>, present = nothing) =>
  checkPlan(planChanges({ ...wanted, ...asked }, present)).map(({ line, message }) => `${line} ${message}`);

describe('an unknown name', () => {
  test('is reported at each place, all of them', () => {
    const mistaken = {
      mcpServers: [mcpServer('files', 2, 'clod')],
      skills: [skill('read', 4, ['fils', 'fils', 'crm'])],
      roles: [role('Reader', 6, ['raed'])],
    };
    expect(told(mistaken)).toEqual([
      '2 The MCP server "files" runs on "clod", which is not a runtime here. Did you mean "cloud"?',
      '4 The skill "read" takes tools from "fils", which is not an MCP server here. Did you mean "files"?',
      '4 The skill "read" takes tools from "crm", which is not an MCP server here. Known here: files.',
      '6 The role "Reader" has "raed", which is not a skill here. Did you mean "read"?',
    ]);
  });

  test('may name an existing object', () => {
    const asked = { skills: [skill('other', 1, ['files'])], roles: [role('Reader', 2, ['read'])] };
    expect(told(asked, live)).toEqual([]);
    expect(told(asked)).toEqual([
      '1 The skill "other" takes tools from "files", which is not an MCP server here. There is none yet.',
      '2 The role "Reader" has "read", which is not a skill here. Known here: other.',
    ]);
  });
});

describe("more than a workspace's limit", () => {
  const many = <Thing>(count: number, make: (name: string, line: number) => Thing) =>
    Array.from({ length: count }, (_, i) => make(`n${i}`, i + 1));

  test('is reported at the first entry beyond the limit', () => {
    expect(told({ mcpServers: many(1000, mcpServer), roles: many(1000, role), skills: many(10_000, skill) })).toEqual(
      [],
    );
    expect(told({ mcpServers: many(1001, mcpServer), roles: many(1002, role), skills: many(10_001, skill) })).toEqual([
      '1001 A workspace may have 1000 MCP servers: the files add 1001.',
      '10001 A workspace may have 10000 skills: the files add 10001.',
      '1001 A workspace may have 1000 roles: the files add 1002.',
    ]);
  });

  test('counts existing objects, and those of the same name once', () => {
    expect(told({ roles: [role('Reader', 1), ...many(999, role)] }, live)).toEqual([]);
    expect(told({ roles: many(1000, role) }, live)).toEqual([
      '1000 A workspace may have 1000 roles: the files add 1000, and it has 1 already.',
    ]);
  });
});
