import { expect } from 'vitest';
import { z } from 'zod';
import type { BackendClient } from '../client/backend-client.ts';
import { foreignServers } from './foreign-servers.ts';
import { Platform, type PlatformOptions } from './platform.ts';
import { until } from './until.ts';

/** A platform with two such workspaces: A, to whom the tests belong, and B, of which A must never see anything. */
export interface TwoHomes {
  readonly platform: Platform;
  readonly backend: BackendClient;
  readonly a: Home;
  readonly b: Home;
}

export async function startTwoHomes(options?: PlatformOptions): Promise<TwoHomes> {
  const platform = await Platform.start(options);
  try {
    const backend = await platform.backend();
    const [a, b] = await Promise.all([addHome(backend, 'a'), addHome(backend, 'b')]);
    return { platform, backend, a, b };
  } catch (error) {
    await platform[Symbol.asyncDispose]();
    throw error;
  }
}

/** All that gives a workspace away: what is written in its things, and their ids. */
export function tracesOf({ mark, own, name, owner, workspace, same, only }: Home): readonly string[] {
  const ids = [same, only].flatMap(({ keyText: _, ...things }) => Object.values(things));
  return [mark, own, name, owner.email, owner.id, workspace, ...ids];
}

/** Nothing of it, whatever was asked for, but what the question itself held. */
export function expectNothingOf(home: Home, text: string, question = ''): void {
  for (const trace of tracesOf(home)) if (!question.includes(trace)) expect(text).not.toContain(trace);
}

/** A workspace with two of everything: one named "same", as in every other workspace, and one that only this workspace has a name for. */
export interface Home {
  readonly workspace: string;
  readonly name: string;
  /** Stands in everything that this workspace holds and in no other. */
  readonly mark: string;
  /** Name of what only this workspace has. */
  readonly own: string;
  readonly owner: { readonly id: string; readonly email: string };
  readonly same: Things;
  readonly only: Things;
}

/** Ids, and the key itself. */
export interface Things {
  readonly mcpServer: string;
  readonly skill: string;
  readonly role: string;
  readonly key: string;
  readonly keyText: string;
  readonly runtime: string;
}

export const toolNames = ['echo', 'get-env', 'trigger-long-running-operation'];

const made = z.object({ id: z.string() });

async function addHome(backend: BackendClient, letter: string): Promise<Home> {
  const [name, mark, own] = [`Home ${letter}`, `mark-of-${letter}`, `only-${letter}`];
  const email = `${letter}@owners.example`;
  const { createWorkspace } = await backend.query(
    'mutation ($input: CreateWorkspaceInput!) { createWorkspace(input: $input) { id owner { id } } }',
    { input: { name, ownerEmail: email } },
    z.object({ createWorkspace: made.extend({ owner: made }) }).parse,
  );
  const workspace = createWorkspace.id;
  const same = await addThings(backend, { workspace, mark, name: 'same' });
  const only = await addThings(backend, { workspace, mark, name: own });
  return { workspace, name, mark, own, owner: { id: createWorkspace.owner.id, email }, same, only };
}

interface Wanted {
  readonly workspace: string;
  readonly mark: string;
  readonly name: string;
}

async function addThings(backend: BackendClient, { workspace, mark, name }: Wanted): Promise<Things> {
  const [command, ...args] = foreignServers.everything;
  const launch = { command, args, env: [{ name: 'MARK', value: mark }] };
  const tools = toolNames.map((tool) => ({ mcpServer: name, tool }));
  const { createMcpServer, createSkill, registerRuntime } = await backend.query(
    `mutation ($w: ID!, $name: String!, $server: McpServerInput!, $skill: SkillInput!) {
      createMcpServer(workspace: $w, input: $server) { id }
      createSkill(workspace: $w, input: $skill) { id }
      registerRuntime(workspace: $w, name: $name) { runtime { id } }
    }`,
    { w: workspace, name, server: { name, launch }, skill: { name, description: mark, instructions: mark, tools } },
    z.object({ createMcpServer: made, createSkill: made, registerRuntime: z.object({ runtime: made }) }).parse,
  );
  const { createRole, createKey } = await backend.query(
    `mutation ($w: ID!, $role: RoleInput!, $key: KeyInput!) {
      createRole(workspace: $w, input: $role) { id }
      createKey(workspace: $w, input: $key) { secret key { id } }
    }`,
    { w: workspace, role: { name, description: mark, skills: [createSkill.id] }, key: { name } },
    z.object({ createRole: made, createKey: z.object({ secret: z.string(), key: made }) }).parse,
  );
  await connected(backend, workspace, createMcpServer.id);
  return {
    mcpServer: createMcpServer.id,
    skill: createSkill.id,
    role: createRole.id,
    key: createKey.key.id,
    keyText: createKey.secret,
    runtime: registerRuntime.runtime.id,
  };
}

async function connected(backend: BackendClient, workspace: string, id: string): Promise<void> {
  const status = z.object({ workspace: z.object({ mcpServer: z.object({ status: z.string() }) }) });
  await until(async () => {
    const query = 'query ($w: ID!, $id: ID!) { workspace(id: $w) { mcpServer(id: $id) { status } } }';
    const seen = await backend.query(query, { w: workspace, id }, status.parse);
    return seen.workspace.mcpServer.status === 'Connected';
  });
}
