import { toSvcError } from '../../services/contracts/errors.ts';
import type { BackendClient } from '../client/backend-client.ts';
import {
  createMcpServerMutation,
  createRoleMutation,
  createSkillMutation,
  updateMcpServerMutation,
  updateRoleMutation,
  updateSkillMutation,
} from '../client/generated/operations.ts';
import { checkPlan } from './check-plan.ts';
import { inParallel, readLive } from './live-workspace.ts';
import { type Plan, type PlannedChange, planChanges } from './plan-changes.ts';
import type { ReadFile } from './read-file.ts';
import { findDuplicates, mergeFiles, refuseMistakes, type WantedObject } from './wanted-workspace.ts';

export interface ApplyOptions {
  readonly backend: BackendClient;
  readonly files: readonly ReadFile[];
  /** Reports the changes without making them. */
  readonly dryRun?: boolean;
  readonly signal?: AbortSignal | undefined;
}

export interface Change extends Pick<PlannedChange<unknown, unknown>, 'action' | 'fields'> {
  readonly kind: 'mcpServer' | 'skill' | 'role';
  readonly workspace: string;
  readonly name: string;
}

/** Makes workspaces equal to the files. Mistakes in the files are found before anything is changed. */
export async function apply({ backend, files, dryRun = false, signal }: ApplyOptions) {
  refuseMistakes(files.flatMap(({ mistakes }) => mistakes));
  const wanted = mergeFiles(files.map((file) => file.wanted));
  refuseMistakes(wanted.flatMap(findDuplicates));
  const plans: Plan[] = [];
  for (const one of wanted) plans.push(planChanges(one, await readLive(backend, one, signal)));
  refuseMistakes(plans.flatMap(checkPlan));
  if (!dryRun) for (const plan of plans) await carryOut(backend, plan, signal);
  return { changes: plans.flatMap(changesOf), plans };
}

function changesOf({ wanted: { workspace }, mcpServers, skills, roles }: Plan): readonly Change[] {
  const told = (kind: Change['kind'], changes: readonly PlannedChange<WantedObject, unknown>[]) =>
    changes.map(({ action, wanted: { name }, fields }) => ({ kind, workspace, name, action, fields }));
  return [...told('mcpServer', mcpServers), ...told('skill', skills), ...told('role', roles)];
}

/**
 * MCP servers, then the skills that take their tools, then the roles that have these skills. An interruption lets the
 * changes under way finish, so that their outcome is known. The version makes a change by somebody else a conflict.
 */
async function carryOut(backend: BackendClient, plan: Plan, signal: AbortSignal | undefined): Promise<void> {
  const { id: workspace, skills } = plan.live;
  const skillIds = new Map(skills.map(({ name, id }) => [name, id]));
  const idOfSkill = (name: string) => {
    const id = skillIds.get(name);
    if (id === undefined) throw new Error('a role with a skill that is neither in the plan nor in the workspace');
    return id;
  };
  const save = <Change extends PlannedChange<unknown, unknown>>(
    changes: readonly Change[],
    work: (change: Change) => Promise<unknown>,
  ) =>
    inParallel(
      changes.filter(({ action }) => action !== 'none'),
      async (change) => {
        if (signal?.aborted) throw toSvcError(signal.reason);
        await work(change);
      },
    );
  await save(plan.mcpServers, async ({ wanted: { name, launch, runtime, enabled }, live }) => {
    // An empty name moves it back to the platform's own runtime.
    const input = { name, launch, runtime: runtime ?? '', enabled };
    if (live === null) return backend.send(createMcpServerMutation, { workspace, input });
    return backend.send(updateMcpServerMutation, { workspace, ...patchOf(live, input) });
  });
  await save(plan.skills, async ({ wanted: { name, description, instructions, tools }, live }) => {
    const input = { name, description, instructions, tools };
    if (live !== null) return backend.send(updateSkillMutation, { workspace, ...patchOf(live, input) });
    const { createSkill } = await backend.send(createSkillMutation, { workspace, input });
    return skillIds.set(name, createSkill.id);
  });
  await save(plan.roles, async ({ wanted: { name, description, enabled, skills: names }, live }) => {
    const input = { name, description, enabled, skills: names.map(idOfSkill) };
    if (live === null) return backend.send(createRoleMutation, { workspace, input });
    return backend.send(updateRoleMutation, { workspace, ...patchOf(live, input) });
  });
}

function patchOf<Input>({ id, version }: { readonly id: string; readonly version: number }, input: Input) {
  return { id, input: { ...input, ifVersion: version } };
}
