import { expect } from 'vitest';
import { z } from 'zod';
import type { BackendClient } from '../client/backend-client.ts';
import {
  createKeyMutation,
  createMcpServerMutation,
  createRoleMutation,
  createSkillMutation,
  mcpServerQuery,
  registerRuntimeMutation,
} from '../client/generated/operations.ts';
import { foreignServers } from './foreign-servers.ts';
import { Platform, type PlatformOptions } from './platform.ts';
import { until } from './until.ts';

export type TwoHomes = Awaited<ReturnType<typeof startTwoHomes>>;
export type Home = Awaited<ReturnType<typeof addHome>>;

/** A platform with two workspaces: A, which belongs to the tests, and B, of which A must never see anything. */
export async function startTwoHomes(options?: PlatformOptions) {
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

/** Everything that identifies a workspace: the texts in its objects, and their ids. */
export function tracesOf({ mark, own, name, owner, workspace, same, only }: Home): readonly string[] {
  const ids = [same, only].flatMap(({ keyText: _, ...things }) => Object.values(things));
  return [mark, own, name, owner.email, owner.id, workspace, ...ids];
}

/** The text must hold no trace of the home, except traces that were in the question itself. */
export function expectNothingOf(home: Home, text: string, question = ''): void {
  for (const trace of tracesOf(home)) if (!question.includes(trace)) expect(text).not.toContain(trace);
}

const toolNames = ['echo', 'get-env', 'trigger-long-running-operation'];

const made = z.object({ id: z.string() });

/**
 * A workspace with two of everything: one named "same", as in every other workspace, and one with its own name. The
 * mark is in every object of this workspace, and in no other workspace.
 */
async function addHome(backend: BackendClient, letter: string) {
  const [name, mark, own] = [`Home ${letter}`, `mark-of-${letter}`, `only-${letter}`];
  const email = `${letter}@owners.example`;
  const text = 'mutation ($input: CreateWorkspaceInput!) { createWorkspace(input: $input) { id owner { id } } }';
  const { createWorkspace } = z
    .object({ createWorkspace: made.extend({ owner: made }) })
    .parse(await backend.send({ text }, { input: { name, ownerEmail: email } }));
  const workspace = createWorkspace.id;
  const same = await addThings(backend, { workspace, mark, name: 'same' });
  const only = await addThings(backend, { workspace, mark, name: own });
  return { workspace, name, mark, own, owner: { id: createWorkspace.owner.id, email }, same, only };
}

type ThingsInput = Readonly<Record<'workspace' | 'mark' | 'name', string>>;

/** Returns ids, and the text of the key. */
async function addThings(backend: BackendClient, { workspace, mark, name }: ThingsInput) {
  const [command, ...args] = foreignServers.everything;
  const launch = { command, args, env: [{ name: 'MARK', value: mark }] };
  const tools = toolNames.map((tool) => ({ mcpServer: name, tool }));
  const texts = { name, description: mark };
  const server = await backend.send(createMcpServerMutation, { workspace, input: { name, launch } });
  const mcpServer = server.createMcpServer.id;
  const input = { ...texts, instructions: mark, tools };
  const skill = (await backend.send(createSkillMutation, { workspace, input })).createSkill.id;
  const role = await backend.send(createRoleMutation, { workspace, input: { ...texts, skills: [skill] } });
  const { createKey } = await backend.send(createKeyMutation, { workspace, input: { name } });
  const { registerRuntime } = await backend.send(registerRuntimeMutation, { workspace, name });
  await until(async () => {
    const seen = await backend.send(mcpServerQuery, { workspace, id: mcpServer });
    return seen.workspace?.mcpServer?.status === 'Connected';
  });
  const [key, keyText, runtime] = [createKey.key.id, createKey.secret, registerRuntime.runtime.id];
  return { mcpServer, skill, role: role.createRole.id, key, keyText, runtime };
}
