import type { BackendClient } from '../../stack/client/backend-client.ts';
import { filesOfSkillQuery, type SkillFileFragment } from '../../stack/client/generated/operations.ts';
import { fetchSkills, skillNamed } from './skills.ts';

export interface FilesOfSkill {
  readonly skill: { readonly id: string; readonly name: string };
  readonly files: readonly SkillFileFragment[];
}

/** A skill by its name or id, and its files. */
export async function fetchFiles(backend: BackendClient, workspace: string, given: string): Promise<FilesOfSkill> {
  const { id, name } = skillNamed(await fetchSkills(backend, workspace), given);
  const answer = await backend.send(filesOfSkillQuery, { workspace, skill: id });
  return { skill: { id, name }, files: answer.workspace?.skill?.files ?? [] };
}
