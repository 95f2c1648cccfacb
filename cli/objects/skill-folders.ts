import { existsSync, readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { SvcError } from '../../services/contracts/errors.ts';
import { parseDescription, parseName } from '../../services/contracts/names.ts';
import type { WantedSkill } from '../../stack/apply/wanted-workspace.ts';
import { type LeftOut, readSkillFolder, skillTextName } from '../../stack/skills/skill-folder.ts';
import type { ToolRef } from '../../stack/skills/skill-text.ts';
import { textOfRef } from './tool-refs.ts';

export interface SkillToImport {
  readonly skill: WantedSkill;
  readonly leftOut: readonly LeftOut[];
}

/** The skill in a folder, as `svc apply` takes it. `given` may also be the SKILL.md itself. */
export function readSkillToImport(given: string): SkillToImport {
  const folder = basename(given) === skillTextName ? dirname(given) : given;
  const file = join(folder, skillTextName);
  if (!existsSync(file)) throw withoutSkill(folder);
  const { name, description, instructions, tools, files, leftOut } = readSkillFolder(folder, '.');
  const skill = {
    ...{ name: inFile(file, () => parseName('skill', name)), place: { file, line: 1, column: 1 } },
    ...{ description: inFile(file, () => parseDescription(description)), instructions, tools, files },
  };
  return { skill, leftOut: leftOut.map(({ place, why }) => ({ place: join(folder, place), why })) };
}

function inFile<Result>(file: string, parse: () => Result): Result {
  try {
    return parse();
  } catch (error) {
    throw error instanceof SvcError ? new SvcError(error.code, `"${file}": ${error.message}`) : error;
  }
}

/** People name the folder around the folders of skills. */
function withoutSkill(folder: string): SvcError {
  const below = foldersIn(folder).filter((name) => existsSync(join(folder, name, skillTextName)));
  return new SvcError('invalid_input', `"${folder}" holds no ${skillTextName}, so it is not the folder of a skill.`, {
    hint:
      below.length === 0
        ? 'Name a folder with a SKILL.md.'
        : `Folders below it do: svc skill import ${below
            .slice(0, shownMax)
            .map((name) => join(folder, name))
            .join(' ')}`,
  });
}

const shownMax = 20;

function foldersIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
  } catch {
    return [];
  }
}

/**
 * Adds the tools of `--tool`. A SKILL.md may be older than the MCP servers here: tools of unknown ones are left out,
 * and said.
 */
export function withTools(
  { skill, leftOut }: SkillToImport,
  given: readonly ToolRef[],
  mcpServers: ReadonlySet<string>,
): SkillToImport {
  const own = skill.tools ?? [];
  const known = own.filter(({ mcpServer }) => mcpServers.has(mcpServer));
  const unknown = own.filter(({ mcpServer }) => !mcpServers.has(mcpServer));
  const tools = new Map([...known, ...given].map((ref) => [textOfRef(ref), ref]));
  return {
    skill: { ...skill, tools: tools.size === 0 ? undefined : [...tools.values()] },
    leftOut: [
      ...leftOut,
      ...unknown.map((ref) => ({
        place: `${skill.place.file}: allowed-tools: ${textOfRef(ref)}`,
        why: `there is no MCP server "${ref.mcpServer}"`,
      })),
    ],
  };
}
