import { z } from 'zod';
import { isMistakes, readYaml } from '../settings/yaml-text.ts';

export interface SkillFolder {
  readonly name: string;
  readonly description: string;
  readonly instructions: string;
}

const frontMatter = z.object({ name: z.string(), description: z.string().default('') });

/**
 * The text of a SKILL.md (Agent Skills): YAML between two lines of dashes, then the instructions. Null for other
 * content.
 */
export function parseSkillFolder(text: string): SkillFolder | null {
  const parts = /^---\r?\n([\s\S]*?)\r?\n---(?:\r?\n([\s\S]*))?$/.exec(text);
  if (parts === null) return null;
  const yaml = readYaml(parts[1] ?? '');
  const parsed = isMistakes(yaml) ? null : frontMatter.safeParse(yaml.value).data;
  return parsed == null ? null : { ...parsed, instructions: (parts[2] ?? '').trim() };
}
