import { z } from 'zod';
import type { BackendClient } from '../stack/client/backend-client.ts';
import { fetchSkills, skillNamed } from './skills.ts';

const file = z.object({ path: z.string(), digest: z.string(), sizeBytes: z.number(), url: z.string() });

export interface FilesOfSkill {
  readonly skill: { readonly id: string; readonly name: string };
  readonly files: readonly z.infer<typeof file>[];
}

/** A skill by its name or id, and what it carries. */
export async function fetchFiles(backend: BackendClient, workspace: string, given: string): Promise<FilesOfSkill> {
  const skill = skillNamed(await fetchSkills(backend, workspace), given);
  const answer = await backend.query(
    'query ($w: ID!, $s: ID) { workspace(id: $w) { skill(id: $s) { files { path digest sizeBytes url } } } }',
    { w: workspace, s: skill.id },
    z.object({ workspace: z.object({ skill: z.object({ files: z.array(file) }).nullable() }) }).parse,
  );
  return { skill, files: answer.workspace.skill?.files ?? [] };
}
