import { showToast } from '../../components/toast.tsx';
import { ask, send } from '../../graphql/client.ts';
import {
  changeSkillsOfRoleMutation,
  type SkillTextsQuery,
  skillsOfRoleQuery,
  skillTextsQuery,
  skillToolsQuery,
  type ToolRef,
  updateSkillMutation,
} from '../../graphql/generated/operations.ts';
import { ShownError, shownErrorOf } from '../../graphql/shown-error.ts';

export interface SkillAt {
  readonly workspace: string;
  readonly id: string;
}

export type SkillTexts = NonNullable<NonNullable<SkillTextsQuery['workspace']>['skill']>;
type Text = 'name' | 'description' | 'instructions';

/** Somebody who changes a skill all the time makes others wait, not fail. */
const attemptsMax = 5;

/**
 * Saves texts of a skill that was read at a version. Other changes since then stay. Returns the present texts, and saves
 * nothing, if somebody else changed one of these.
 */
export async function saveTexts(
  at: SkillAt,
  before: Pick<SkillTexts, 'version'> & Partial<Record<Text, string>>,
  after: Partial<Record<Text, string>>,
): Promise<SkillTexts | null> {
  const texts = Object.keys(after) as Text[];
  let { version } = before;
  for (let attempt = 1; ; attempt++) {
    try {
      await send(updateSkillMutation, { ...at, input: { ...after, ifVersion: version } });
      return null;
    } catch (error) {
      const now = isConflict(error) ? ((await ask(skillTextsQuery, at)).workspace?.skill ?? null) : null;
      // Another skill may have the name: that is no change of this one.
      if (now === null || now.version === version || attempt === attemptsMax) throw error;
      if (texts.some((text) => now[text] !== before[text])) return now;
      version = now.version;
    }
  }
}

/** Changes the tools and patterns of a skill as they are at this moment. Returns what they were. */
export function changeTools(at: SkillAt, change: (refs: readonly ToolRef[]) => readonly ToolRef[]) {
  return repeated(async () => {
    const skill = (await ask(skillToolsQuery, at)).workspace?.skill;
    if (skill === null || skill === undefined) throw gone('skill');
    const before: readonly ToolRef[] = [
      ...skill.namedTools.map(({ originalName, mcpServer }) => ({ mcpServer: mcpServer.name, tool: originalName })),
      ...skill.patterns.map(({ pattern, mcpServer }) => ({ mcpServer: mcpServer.name, tool: pattern })),
    ];
    await send(updateSkillMutation, { ...at, input: { tools: [...change(before)], ifVersion: skill.version } });
    return before;
  });
}

export function isSameTool(one: ToolRef, other: ToolRef): boolean {
  return one.mcpServer === other.mcpServer && one.tool === other.tool;
}

/** Gives a skill to a role, or takes it from the role. */
export function setInRole(workspace: string, { role, skill, has }: { role: string; skill: string; has: boolean }) {
  return repeated(async () => {
    const found = (await ask(skillsOfRoleQuery, { workspace, id: role })).workspace?.role;
    if (found === null || found === undefined) throw gone('role');
    const others = found.skills.map(({ id }) => id).filter((id) => id !== skill);
    await send(changeSkillsOfRoleMutation, {
      ...{ workspace, id: role, skills: has ? [...others, skill] : others },
      ifVersion: found.version,
    });
  });
}

/** Of an Undo, which has no place of its own on the screen. */
export function tellFailure(error: unknown): void {
  showToast(shownErrorOf(error).message);
}

/** Repeats a change that reads first, while others change the same object. */
async function repeated<Result>(attemptOnce: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await attemptOnce();
    } catch (error) {
      if (!isConflict(error) || attempt === attemptsMax) throw error;
    }
  }
}

function isConflict(error: unknown): boolean {
  return error instanceof ShownError && error.code === 'conflict';
}

function gone(kind: 'skill' | 'role'): ShownError {
  const fields = { code: 'not_found', hint: null, requestId: null } as const;
  return new ShownError({ ...fields, message: `Somebody removed the ${kind} meanwhile.` });
}
