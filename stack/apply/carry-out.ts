import { z } from 'zod';
import { toSvcError } from '../../services/contracts/errors.ts';
import type { BackendClient } from '../client/backend-client.ts';
import type { Change, Plan } from './plan-changes.ts';
import type { WantedMcpServer, WantedRole, WantedSkill } from './wanted.ts';

export interface Carrying {
  readonly backend: BackendClient;
  readonly plan: Plan;
  readonly signal: AbortSignal;
  readonly onDone: () => void;
}

/** MCP servers, then the skills that take their tools, then the roles that have these skills; removals the other way round. */
export async function carryOut({ backend, plan, signal, onDone }: Carrying): Promise<void> {
  const skillIds = new Map(plan.skillIds);
  const send = async (noun: Noun, step: Sendable, input: object | null): Promise<string | null> => {
    if (signal.aborted) throw toSvcError(signal.reason);
    const id = await sendChange({ backend, workspace: plan.workspaceId, noun, step, input });
    onDone();
    return id;
  };
  await eachOf(plan.mcpServers.filter(isSaved), (step) =>
    send('McpServer', step, step.wanted && mcpServerInput(step.wanted)),
  );
  await eachOf(plan.skills.filter(isSaved), async (step) => {
    const id = await send('Skill', step, step.wanted && skillInput(step.wanted));
    if (id !== null) skillIds.set(step.change.name, id);
  });
  await eachOf(plan.roles.filter(isSaved), (step) =>
    send('Role', step, step.wanted && roleInput(step.wanted, skillIds)),
  );
  await eachOf(plan.roles.filter(isRemoved), (step) => send('Role', step, null));
  await eachOf(plan.skills.filter(isRemoved), (step) => send('Skill', step, null));
  await eachOf(plan.mcpServers.filter(isRemoved), (step) => send('McpServer', step, null));
}

type Noun = 'McpServer' | 'Skill' | 'Role';

interface Sendable {
  readonly change: Change;
  readonly live: { readonly id: string; readonly version: number } | null;
}

function isSaved({ change: { action } }: Sendable): boolean {
  return action === 'create' || action === 'update';
}

function isRemoved({ change: { action } }: Sendable): boolean {
  return action === 'delete';
}

interface Sending {
  readonly backend: BackendClient;
  readonly workspace: string;
  readonly noun: Noun;
  readonly step: Sendable;
  /** Null: it goes. */
  readonly input: object | null;
}

/**
 * Returns the id of what was saved. An interruption lets it finish, or nobody would know whether it was. A change that somebody made since
 * the difference was computed is a conflict, and stays.
 */
async function sendChange({ backend, workspace, noun, step: { live }, input }: Sending): Promise<string | null> {
  if (input === null) {
    const document = `mutation ($workspace: ID!, $id: ID!) { remove${noun}(workspace: $workspace, id: $id) }`;
    await backend.query(document, { workspace, id: live?.id }, () => undefined);
    return null;
  }
  const document =
    live === null
      ? `mutation ($workspace: ID!, $input: ${noun}Input!) { saved: create${noun}(workspace: $workspace, input: $input) { id } }`
      : `mutation ($workspace: ID!, $id: ID!, $input: ${noun}Patch!) { saved: update${noun}(workspace: $workspace, id: $id, input: $input) { id } }`;
  const variables =
    live === null ? { workspace, input } : { workspace, id: live.id, input: { ...input, ifVersion: live.version } };
  const { saved } = await backend.query(document, variables, answer.parse);
  return saved.id;
}

const answer = z.object({ saved: z.object({ id: z.string() }) });

function mcpServerInput({ name, launch, runtime, enabled }: WantedMcpServer) {
  // An empty name gives it back to the platform's own runtime.
  return { name, launch, runtime: runtime ?? '', enabled };
}

function skillInput({ name, description, instructions, tools }: WantedSkill) {
  return { name, description, instructions, tools };
}

function roleInput({ name, description, enabled, skills }: WantedRole, ids: ReadonlyMap<string, string>) {
  return { name, description, enabled, skills: skills.map((skill) => ids.get(skill)) };
}

/** The backend writes one change after the other; more at once would only wait there. */
const concurrency = 8;

/** The first failure ends it: what is under way finishes, and nothing new is begun. */
async function eachOf<Item>(items: readonly Item[], work: (item: Item) => Promise<unknown>): Promise<void> {
  const rest = items.values();
  let failed = false;
  const worker = async () => {
    for (const item of rest) {
      if (failed) return;
      try {
        await work(item);
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  };
  const outcomes = await Promise.allSettled(Array.from({ length: concurrency }, worker));
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
}
