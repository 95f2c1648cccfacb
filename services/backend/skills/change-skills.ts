import { SvcError } from '../../contracts/errors.ts';
import { newId, type WorkspaceId } from '../../contracts/ids.ts';
import { parseDescription, parseName } from '../../contracts/names.ts';
import { instructionsMaxBytes, skillsMax } from '../../contracts/workspace-limits.ts';
import { type ChangeNeeds, change } from '../activity/change.ts';
import { type BasedOn, findSince, requireSeen, requireVersion } from '../activity/changed-meanwhile.ts';
import { differences } from '../activity/record-activity.ts';
import { removeFilesOf } from '../files/change-files.ts';
import { getNode, requireFreeName, tooMany } from '../graph/get-node.ts';
import { type Node, pageMax } from '../graph/graph.ts';
import type { TokenPrincipal } from '../tokens/verify-token.ts';
import type { ToolRef } from '../tools/ensure-tools.ts';
import { removePatternsOf } from '../tools/tool-patterns.ts';
import { replaceTools } from './replace-tools.ts';

/** The fields of a skill; an absent or null field stays unchanged, or gets its default. */
export interface SkillInput {
  readonly name?: string | null | undefined;
  readonly description?: string | null | undefined;
  readonly instructions?: string | null | undefined;
  readonly tools?: readonly ToolRef[] | null | undefined;
}

export interface SkillPatch extends SkillInput {
  readonly ifVersion?: number | null | undefined;
}

export function createSkill(
  backend: ChangeNeeds,
  principal: TokenPrincipal,
  workspace: WorkspaceId,
  input: SkillInput & { readonly name: string },
): Promise<Node<'skill'>> {
  return change(backend, { principal, workspace, right: 'edit' }, async (change) => {
    const { transaction } = change;
    const name = parseName('skill', input.name);
    await requireFreeName(transaction, 'skill', name, workspace);
    if ((await transaction.count({ type: 'skill', anchor: workspace, limit: 1 })) >= skillsMax) {
      throw tooMany('skills in a workspace', skillsMax);
    }
    const skill = await transaction.create('skill', {
      id: newId('skill'),
      workspace,
      name,
      description: parseDescription(input.description ?? ''),
      instructions: parseInstructions(input.instructions ?? ''),
      createdAt: Date.now(),
    });
    const tools = await replaceTools(change, skill, input.tools ?? []);
    const { description, instructions } = skill;
    const changes = differences({}, { description, instructions, tools: tools.after });
    change.record({ action: 'create', subject: skill.id, subjectKind: 'skill', subjectName: name, changes });
    return skill;
  });
}

export function updateSkill(
  backend: ChangeNeeds,
  principal: TokenPrincipal,
  workspace: WorkspaceId,
  id: string,
  patch: SkillPatch,
): Promise<Node<'skill'>> {
  return change(backend, { principal, workspace, right: 'edit' }, async (change) => {
    const { transaction } = change;
    const { ifVersion } = patch;
    const before = await findSince(change, 'skill', { id, ifVersion }, () =>
      getNode(transaction, 'skill', id, workspace),
    );
    await requireVersion(change, 'skill', before, ifVersion);
    const name = patch.name == null ? before.name : parseName('skill', patch.name);
    if (name !== before.name) await requireFreeName(transaction, 'skill', name, workspace);
    const description = patch.description == null ? before.description : parseDescription(patch.description);
    const instructions = patch.instructions == null ? before.instructions : parseInstructions(patch.instructions);
    const tools = patch.tools == null ? null : await replaceTools(change, before, patch.tools);
    const changes = {
      ...differences(before, { name, description, instructions }),
      ...(tools === null ? {} : differences({ tools: tools.before }, { tools: tools.after })),
    };
    if (Object.keys(changes).length === 0) return before;
    change.record({ action: 'update', subject: before.id, subjectKind: 'skill', subjectName: name, changes });
    return await transaction.update('skill', before.id, { name, description, instructions }, { anchor: workspace });
  });
}

export interface SkillRemoval extends BasedOn {
  /** Ids of the roles that may lose it; absent: any. */
  readonly ifUsedBy?: readonly string[] | null | undefined;
}

export function removeSkill(
  backend: ChangeNeeds,
  principal: TokenPrincipal,
  workspace: WorkspaceId,
  { id, ifVersion, ifUsedBy }: SkillRemoval,
): Promise<void> {
  return change(backend, { principal, workspace, right: 'edit' }, async (change) => {
    const skill = await findSince(change, 'skill', { id, ifVersion }, () =>
      getNode(change.transaction, 'skill', id, workspace),
    );
    await requireVersion(change, 'skill', skill, ifVersion);
    const edge = { from: 'role', edge: 'skills' } as const;
    const ends = await change.transaction.followBack(edge, [skill.id], { anchor: workspace, limitEach: pageMax });
    const roles = ends.get(skill.id) ?? [];
    requireSeen({ kind: 'skill', name: skill.name }, { kind: 'role', objects: roles, seen: ifUsedBy });
    await removeFilesOf(change.transaction, skill);
    await removePatternsOf(change.transaction, workspace, { field: 'skill', id: skill.id });
    await change.transaction.remove('skill', skill.id, workspace);
    change.record({
      action: 'remove',
      subject: skill.id,
      subjectKind: 'skill',
      subjectName: skill.name,
      changes: {},
    });
  });
}

function parseInstructions(text: string): string {
  if (Buffer.byteLength(text) <= instructionsMaxBytes) return text;
  throw new SvcError('too_large', `The instructions are longer than ${instructionsMaxBytes / 1024} KB.`, {
    hint: 'Keep what an agent always needs, and move the rest into other skills.',
  });
}
