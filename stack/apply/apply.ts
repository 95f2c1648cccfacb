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
import { inParallel } from '../client/in-parallel.ts';
import { saveFiles } from '../skills/save-files.ts';
import { checkPlan } from './check-plan.ts';
import { readLive } from './live-workspace.ts';
import { type Difference, type Plan, type PlannedChange, planChanges } from './plan-changes.ts';
import type { ReadFile } from './read-file.ts';
import { rulesAfter } from './rules-after.ts';
import { findDuplicates, mergeFiles, refuseMistakes, type WantedObject } from './wanted-workspace.ts';

export interface ApplyOptions {
  readonly backend: BackendClient;
  readonly files: readonly ReadFile[];
  /** Reports the changes without making them. */
  readonly dryRun?: boolean;
  /** Removes objects that no file names, of the kinds that a file lists. */
  readonly prune?: boolean;
  /** Called before anything is changed. To change nothing, it throws. */
  readonly agree?: (changes: readonly Change[]) => Promise<void>;
  readonly signal?: AbortSignal | undefined;
}

export interface Change {
  readonly kind: 'mcpServer' | 'skill' | 'role';
  readonly workspace: string;
  readonly name: string;
  readonly action: 'create' | 'update' | 'delete' | 'none';
  /** The names of the fields that an update changes. */
  readonly fields: readonly string[];
  readonly differences: readonly Difference[];
}

/** Makes workspaces equal to the files. Mistakes in the files are found before anything is changed. */
export async function apply({ backend, files, dryRun = false, prune = false, agree, signal }: ApplyOptions) {
  refuseMistakes(files.flatMap(({ mistakes }) => mistakes));
  const wanted = mergeFiles(files.map((file) => file.wanted));
  refuseMistakes(wanted.flatMap(findDuplicates));
  const plans: Plan[] = [];
  for (const one of wanted) plans.push(planChanges(one, await readLive(backend, one, signal), { prune }));
  refuseMistakes(plans.flatMap(checkPlan));
  const changes = plans.flatMap(changesOf);
  if (dryRun) return { changes, plans };
  await agree?.(changes);
  for (const plan of plans) await carryOut(backend, plan, signal);
  return { changes, plans };
}

function changesOf({ wanted: { workspace }, mcpServers, skills, roles, removals }: Plan): readonly Change[] {
  const told = (kind: Change['kind'], changes: readonly PlannedChange<WantedObject, unknown>[]) =>
    changes.map(({ action, wanted: { name }, differences }) => {
      return { kind, workspace, name, action, fields: differences.map(({ field }) => field), differences };
    });
  const removed = (kind: Change['kind'], objects: readonly { readonly name: string }[]) =>
    objects.map(({ name }) => ({ kind, workspace, name, action: 'delete' as const, fields: [], differences: [] }));
  return [
    ...told('mcpServer', mcpServers),
    ...told('skill', skills),
    ...told('role', roles),
    ...removed('role', removals.roles),
    ...removed('skill', removals.skills),
    ...removed('mcpServer', removals.mcpServers),
  ];
}

/**
 * MCP servers, then the skills that take their tools, then the roles that have these skills; removals in the opposite
 * order. An interruption lets the changes under way finish, so that their outcome is known. The version makes a change
 * by somebody else a conflict.
 */
async function carryOut(backend: BackendClient, plan: Plan, signal: AbortSignal | undefined): Promise<void> {
  const { id: workspace, skills } = plan.live;
  const skillIds = new Map(skills.map(({ name, id }) => [name, id]));
  const idOfSkill = (name: string) => {
    const id = skillIds.get(name);
    if (id === undefined) throw new Error('a role with a skill that is neither in the plan nor in the workspace');
    return id;
  };
  const each = <Item>(items: readonly Item[], work: (item: Item) => Promise<unknown>) =>
    inParallel(items, async (item) => {
      if (signal?.aborted) throw toSvcError(signal.reason);
      await work(item);
    });
  const save = <Change extends PlannedChange<unknown, unknown>>(
    changes: readonly Change[],
    work: (change: Change) => Promise<unknown>,
  ) =>
    each(
      changes.filter(({ action }) => action !== 'none'),
      work,
    );
  await save(plan.mcpServers, async ({ wanted, live }) => {
    const { name, launch, runtime, enabled, startTimeout, callTimeout } = wanted;
    // An empty name moves it back to the platform's own runtime.
    const input = { name, launch, runtime: runtime === null ? '' : runtime, enabled, startTimeout, callTimeout };
    if (live === null) return backend.send(createMcpServerMutation, { workspace, input });
    return backend.send(updateMcpServerMutation, { workspace, ...patchOf(live, input) });
  });
  await save(plan.skills, async ({ wanted: { name, description, instructions, tools, files }, live }) => {
    const input = { name, description, instructions, tools };
    if (live !== null) await backend.send(updateSkillMutation, { workspace, ...patchOf(live, input) });
    const skill = live?.id ?? (await backend.send(createSkillMutation, { workspace, input })).createSkill.id;
    skillIds.set(name, skill);
    const present = plan.live.files.get(name) ?? [];
    if (files !== undefined) await saveFiles(backend, { workspace, skill }, { wanted: files, present });
  });
  await save(
    plan.roles,
    async ({ wanted: { name, description, enabled, skills: names, readOnly, ...rules }, live }) => {
      const input = {
        ...{ name, description, enabled, readOnly },
        ...{ skills: names?.map(idOfSkill), rules: rulesAfter(rules, live) },
      };
      if (live === null) return backend.send(createRoleMutation, { workspace, input });
      return backend.send(updateRoleMutation, { workspace, ...patchOf(live, input) });
    },
  );
  const { removals } = plan;
  const removalOf = ({ id, version }: { readonly id: string; readonly version: number }) => {
    return { workspace, id, ifVersion: version };
  };
  await each(removals.roles, (role) => backend.send(removeRoleMutation, removalOf(role)));
  await each(removals.skills, (skill) => backend.send(removeSkillMutation, removalOf(skill)));
  await each(removals.mcpServers, (server) => backend.send(removeMcpServerMutation, removalOf(server)));
}

function patchOf<Input>({ id, version }: { readonly id: string; readonly version: number }, input: Input) {
  return { id, input: { ...input, ifVersion: version } };
}
