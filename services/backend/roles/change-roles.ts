import { newId, parseId, type WorkspaceId } from '../../contracts/ids.ts';
import { parseDescription, parseName } from '../../contracts/names.ts';
import { rolesMax, skillsOfRoleMax } from '../../contracts/workspace-limits.ts';
import { type Change, type ChangeNeeds, change } from '../activity/change.ts';
import { type BasedOn, findSince, removalOf, requireSeen, requireVersion } from '../activity/changed-meanwhile.ts';
import { differences } from '../activity/record-activity.ts';
import { getNode, noSuchNode, requireFreeName, tooMany } from '../graph/get-node.ts';
import { type Node, pageMax } from '../graph/graph.ts';
import { replaceEdges } from '../graph/replace-edges.ts';
import { stateOfKey } from '../keys/key-state.ts';
import type { TokenPrincipal } from '../tokens/verify-token.ts';
import { type RuleRef, removeRulesOf, replaceRules } from './tool-rules.ts';

/** The fields of a role; an absent or null field stays unchanged, or gets its default. */
export interface RoleInput {
  readonly name?: string | null | undefined;
  readonly description?: string | null | undefined;
  readonly enabled?: boolean | null | undefined;
  readonly skills?: readonly string[] | null | undefined;
  readonly readOnly?: boolean | null | undefined;
  readonly rules?: readonly RuleRef[] | null | undefined;
}

export interface RolePatch extends RoleInput {
  readonly ifVersion?: number | null | undefined;
}

export function createRole(
  backend: ChangeNeeds,
  principal: TokenPrincipal,
  workspace: WorkspaceId,
  input: RoleInput & { readonly name: string },
): Promise<Node<'role'>> {
  return change(backend, { principal, workspace, right: 'edit' }, async (change) => {
    const { transaction } = change;
    const name = parseName('role', input.name);
    await requireFreeName(transaction, 'role', name, workspace);
    if ((await transaction.count({ type: 'role', anchor: workspace, limit: 1 })) >= rolesMax) {
      throw tooMany('roles in a workspace', rolesMax);
    }
    const role = await transaction.create('role', {
      id: newId('role'),
      workspace,
      name,
      description: parseDescription(input.description ?? ''),
      enabled: input.enabled ?? true,
      toolLimit: limitOf(input.readOnly ?? false),
      createdAt: Date.now(),
    });
    const skills = await replaceSkills(change, role, input.skills ?? []);
    const rules = await replaceRules(change, role, input.rules ?? []);
    const { description, enabled } = role;
    const changes = {
      ...differences({}, { description, enabled, skills: skills.after }),
      ...differences({ readOnly: false, rules: [] }, { readOnly: input.readOnly ?? false, rules: rules.after }),
    };
    change.record({ action: 'create', subject: role.id, subjectKind: 'role', subjectName: name, changes });
    return role;
  });
}

export function updateRole(
  backend: ChangeNeeds,
  principal: TokenPrincipal,
  workspace: WorkspaceId,
  id: string,
  patch: RolePatch,
): Promise<Node<'role'>> {
  return change(backend, { principal, workspace, right: 'edit' }, async (change) => {
    const { transaction } = change;
    const { ifVersion } = patch;
    const before = await findSince(change, 'role', { id, ifVersion }, () =>
      getNode(transaction, 'role', id, workspace),
    );
    await requireVersion(change, 'role', before, ifVersion);
    const name = patch.name == null ? before.name : parseName('role', patch.name);
    if (name !== before.name) await requireFreeName(transaction, 'role', name, workspace);
    const description = patch.description == null ? before.description : parseDescription(patch.description);
    const enabled = patch.enabled ?? before.enabled;
    const skills = patch.skills == null ? null : await replaceSkills(change, before, patch.skills);
    const rules = patch.rules == null ? null : await replaceRules(change, before, patch.rules);
    const wasReadOnly = before.toolLimit !== null;
    const readOnly = patch.readOnly ?? wasReadOnly;
    const changes = {
      ...differences(before, { name, description, enabled }),
      ...differences({ readOnly: wasReadOnly }, { readOnly }),
      ...(rules === null ? {} : differences({ rules: rules.before }, { rules: rules.after })),
      ...(skills === null ? {} : differences({ skills: skills.before }, { skills: skills.after })),
    };
    if (Object.keys(changes).length === 0) return before;
    change.record({ action: 'update', subject: before.id, subjectKind: 'role', subjectName: name, changes });
    const values = { name, description, enabled, toolLimit: limitOf(readOnly) };
    return await transaction.update('role', before.id, values, { anchor: workspace });
  });
}

export interface RoleRemoval extends BasedOn {
  /** Ids of the valid keys that may lose it; absent: any. */
  readonly ifUsedBy?: readonly string[] | null | undefined;
}

/** Keys with this role alone then see nothing: removing a role never widens a key. */
export function removeRole(
  backend: ChangeNeeds,
  principal: TokenPrincipal,
  workspace: WorkspaceId,
  { id, ifVersion, ifUsedBy }: RoleRemoval,
): Promise<void> {
  return change(backend, { principal, workspace, right: 'edit' }, async (change) => {
    const role = await findSince(change, 'role', { id, ifVersion }, () =>
      getNode(change.transaction, 'role', id, workspace),
    );
    await requireVersion(change, 'role', role, ifVersion);
    const edge = { from: 'key', edge: 'roles' } as const;
    const ends = await change.transaction.followBack(edge, [role.id], { anchor: workspace, limitEach: pageMax });
    const keys = (ends.get(role.id) ?? []).filter((key) => stateOfKey(key, Date.now()) === 'valid');
    requireSeen({ kind: 'role', name: role.name }, { kind: 'key', objects: keys, seen: ifUsedBy });
    await removeRulesOf(change.transaction, role);
    await change.transaction.remove('role', role.id, workspace);
    change.record({
      action: 'remove',
      subject: role.id,
      subjectKind: 'role',
      subjectName: role.name,
      changes: {},
    });
  });
}

function limitOf(readOnly: boolean): string | null {
  return readOnly ? 'read_only' : null;
}

/** Returns the names of the skills before and after. */
async function replaceSkills(change: Change, role: Node<'role'>, ids: readonly string[]) {
  const { transaction, workspace } = change;
  const to = new Set(ids.map((id) => parseId('skill', id)));
  if (to.size > skillsOfRoleMax) throw tooMany('skills in a role', skillsOfRoleMax);
  for (const id of to) {
    if ((await transaction.find('skill', id, workspace)) !== null) continue;
    // A caller finds the id by the name of the skill a moment before.
    throw (await removalOf(change, 'skill', id)) ?? noSuchNode('skill', id);
  }
  const ends = await replaceEdges(
    transaction,
    { from: 'role', edge: 'skills' },
    { from: role.id, anchor: workspace, to: [...to] },
  );
  return { before: namesOf(ends.before), after: namesOf(ends.after) };
}

function namesOf(skills: readonly Node<'skill'>[]): readonly string[] {
  return skills.map(({ name }) => name).sort();
}
