import { toSvcError } from '../../services/contracts/errors.ts';
import type { BackendClient } from '../client/backend-client.ts';
import {
  createMcpServerMutation,
  createRoleMutation,
  createSkillMutation,
  removeMcpServerMutation,
  removeRoleMutation,
  removeSkillMutation,
  updateMcpServerMutation,
  updateRoleMutation,
  updateSkillMutation,
} from '../client/generated/operations.ts';
import { inParallel } from './in-parallel.ts';
import type { Plan } from './plan-changes.ts';
import type { WantedMcpServer, WantedRole, WantedSkill } from './wanted-workspace.ts';

export interface CarryOutOptions {
  readonly backend: BackendClient;
  readonly plan: Plan;
  readonly signal: AbortSignal;
  readonly onDone: () => void;
}

/**
 * MCP servers, then the skills that take their tools, then the roles that have these skills; removals the other way round. An interruption
 * lets the changes under way finish, so that their outcome is known. The version makes a change by somebody else a conflict.
 */
export async function carryOut({ backend, plan, signal, onDone }: CarryOutOptions): Promise<void> {
  const workspace = plan.workspaceId;
  const skillIds = new Map(plan.skillIds);
  const each = <Item>(items: readonly Item[], change: (item: Item) => Promise<unknown>) =>
    inParallel(items, async (item) => {
      if (signal.aborted) throw toSvcError(signal.reason);
      await change(item);
      onDone();
    });
  await each(savedOf(plan.mcpServers), async ({ wanted, live }) => {
    const input = mcpServerInput(wanted);
    if (live === null) return backend.send(createMcpServerMutation, { workspace, input });
    return backend.send(updateMcpServerMutation, { workspace, ...patchOf(live, input) });
  });
  await each(savedOf(plan.skills), async ({ wanted, live }) => {
    const input = skillInput(wanted);
    if (live !== null) return backend.send(updateSkillMutation, { workspace, ...patchOf(live, input) });
    const { createSkill } = await backend.send(createSkillMutation, { workspace, input });
    return skillIds.set(wanted.name, createSkill.id);
  });
  await each(savedOf(plan.roles), async ({ wanted, live }) => {
    const input = roleInput(wanted, skillIds);
    if (live === null) return backend.send(createRoleMutation, { workspace, input });
    return backend.send(updateRoleMutation, { workspace, ...patchOf(live, input) });
  });
  await each(removedOf(plan.roles), ({ id }) => backend.send(removeRoleMutation, { workspace, id }));
  await each(removedOf(plan.skills), ({ id }) => backend.send(removeSkillMutation, { workspace, id }));
  await each(removedOf(plan.mcpServers), ({ id }) => backend.send(removeMcpServerMutation, { workspace, id }));
}

interface Present {
  readonly id: string;
  readonly version: number;
}

function patchOf<Input>({ id, version }: Present, input: Input) {
  return { id, input: { ...input, ifVersion: version } };
}

/** As the steps of a plan have it. */
interface PlannedStep<Wish, Live> {
  readonly change: { readonly action: string };
  readonly wanted: Wish | null;
  readonly live: Live | null;
}

function savedOf<Wish, Live>(steps: readonly PlannedStep<Wish, Live>[]) {
  return steps.flatMap(({ change, wanted, live }) =>
    wanted !== null && change.action !== 'none' ? [{ wanted, live }] : [],
  );
}

function removedOf<Live>(steps: readonly PlannedStep<unknown, Live>[]): Live[] {
  return steps.flatMap(({ change, live }) => (live !== null && change.action === 'delete' ? [live] : []));
}

function mcpServerInput({ name, launch, runtime, enabled }: WantedMcpServer) {
  // An empty name moves it back to the platform's own runtime.
  return { name, launch, runtime: runtime ?? '', enabled };
}

function skillInput({ name, description, instructions, tools }: WantedSkill) {
  return { name, description, instructions, tools };
}

function roleInput({ name, description, enabled, skills }: WantedRole, ids: ReadonlyMap<string, string>) {
  return { name, description, enabled, skills: skills.map(idOf) };
  function idOf(skill: string): string {
    const id = ids.get(skill);
    if (id === undefined) throw new Error('a role with a skill that is neither in the plan nor in the workspace');
    return id;
  }
}
