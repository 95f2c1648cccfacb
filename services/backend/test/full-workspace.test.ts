import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { newId, type WorkspaceId } from '../../contracts/ids.ts';
import { skillsOfRoleMax, toolsOfSkillMax } from '../../contracts/workspace-limits.ts';
import { readCatalogue } from '../catalogue/read-catalogue.ts';
import type { Graph } from '../graph/graph.ts';
import { startTestBackend, type TestBackend } from './start-test-backend.ts';

// A workspace at the limits of all its parts.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const skillsCount = 1200;
const fullSkills = 60;
const fullRoles = 60;
const skillsShown = 100;

let backend: TestBackend;
let workspace: WorkspaceId;
let token: string;
beforeAll(async () => {
  backend = await startTestBackend();
  token = await backend.operatorToken();
  const made = 'mutation { createWorkspace(input: { name: "W", ownerEmail: "owner@localhost" }) { id } }';
  workspace = (await backend.must(made)).createWorkspace.id;
  await backend.withGraph(fill);
});
afterAll(() => backend.stop());

async function fill(graph: Graph): Promise<void> {
  const mcpServer = newId('mcpServer');
  const tools = Array.from({ length: toolsOfSkillMax }, () => newId('tool'));
  const skills = Array.from({ length: skillsCount }, () => newId('skill'));
  await graph.write(async (transaction) => {
    for (const [i, id] of tools.entries()) {
      const named = { name: `tool_${i}`, originalName: `tool_${i}`, definition: '{"inputSchema":{}}' };
      await transaction.create('tool', { id, workspace, mcpServer, listed: true, createdAt: i, ...named });
    }
    for (const [i, id] of skills.entries()) {
      const told = { name: `skill-${10_000 + i}`, description: '', instructions: '' };
      await transaction.create('skill', { id, workspace, createdAt: i, ...told });
    }
  });
  for (const skill of skills.slice(0, fullSkills)) {
    await graph.write((transaction) => transaction.link({ from: 'skill', edge: 'tools' }, skill, tools));
  }
  const fullOnes = Array.from({ length: fullRoles }, () => skills.slice(0, skillsOfRoleMax));
  const others = Array.from({ length: skillsCount / skillsShown }, (_, i) =>
    skills.slice(i * skillsShown).slice(0, skillsShown),
  );
  for (const [i, own] of [...fullOnes, ...others].entries()) {
    await graph.write(async (transaction) => {
      const id = newId('role');
      const told = { name: `Role ${i}`, description: '', enabled: true, toolLimit: null };
      await transaction.create('role', { id, workspace, createdAt: i, ...told });
      await transaction.link({ from: 'role', edge: 'skills' }, id, own);
    });
  }
}

const ask = (fields: string) => backend.ask({ query: `{ workspace(name: "W") { ${fields} } }`, token });

test('a page of skills comes with all their tools', async () => {
  const { errors, data } = await ask(`skills(first: 100) { nodes { tools(first: ${toolsOfSkillMax}) { id } } }`);
  expect(errors).toEqual([]);
  const counts = data.workspace.skills.nodes.map(({ tools }: { tools: unknown[] }) => tools.length);
  expect(counts).toEqual([...Array(fullSkills).fill(toolsOfSkillMax), ...Array(100 - fullSkills).fill(0)]);
});

test('skills of many roles are read, whatever their total size', async () => {
  const { errors, data } = await ask(`roles(first: 100) { nodes { skills(first: ${skillsShown}) { id available } } }`);
  expect(errors).toEqual([]);
  const seen = data.workspace.roles.nodes.flatMap(({ skills }: { skills: { id: string }[] }) => skills);
  expect(seen).toHaveLength((fullRoles + skillsCount / skillsShown) * skillsShown);
  expect(new Set(seen.map(({ id }: { id: string }) => id)).size).toBe(skillsCount);
});

test('its catalogue is complete', async () => {
  const kinds = await backend.withGraph(async (graph) => {
    const node = await graph.find('workspace', workspace, null);
    if (node === null) throw new Error('no workspace');
    const found: Record<string, number> = {};
    for await (const slice of readCatalogue(graph, node, { appliesRules: true })) {
      for (const { entry } of slice) found[entry] = (found[entry] ?? 0) + 1;
    }
    return found;
  });
  expect(kinds).toEqual({
    head: 1,
    skill: skillsCount,
    role: fullRoles + skillsCount / skillsShown,
    end: 1,
    tool: toolsOfSkillMax,
  });
});
