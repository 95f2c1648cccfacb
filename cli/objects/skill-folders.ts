import { existsSync, readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { SvcError } from '../../services/contracts/errors.ts';
import { parseDescription, parseName } from '../../services/contracts/names.ts';
import { refsOfSkill } from '../../stack/apply/plan-changes.ts';
import type { WantedSkill } from '../../stack/apply/wanted-workspace.ts';
import type { LiveSkillFragment } from '../../stack/client/generated/operations.ts';
import { type LeftOut, readSkillFolder, skillTextName } from '../../stack/skills/skill-folder.ts';
import type { ToolRef } from '../../stack/skills/skill-text.ts';
import { planFolder, type WholeSkill, writeFolder } from '../../stack/skills/write-folder.ts';
import { fetchFiles } from './files.ts';
import type { Tenancy } from './platform.ts';
import { parseToolRef, textOfRef } from './tool-refs.ts';

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

type Parts = Pick<LiveSkillFragment, 'id' | 'name' | 'description' | 'instructions' | 'namedTools' | 'patterns'>;

export interface SkillToExport {
  readonly skill: WholeSkill;
  readonly bytesOf: (path: string) => Promise<Uint8Array>;
}

/** The skill with its files, whose content is fetched as they are written. */
export async function fetchWhole({ backend, workspace }: Tenancy, parts: Parts): Promise<SkillToExport> {
  const { id, name, description, instructions } = parts;
  const { files } = await fetchFiles(backend, workspace.id, id);
  const tools = refsOfSkill(parts).map((ref) => parseToolRef('--tool', ref));
  const urls = new Map(files.map(({ path, url }) => [path, url]));
  return {
    skill: { name, description, instructions, tools, files },
    bytesOf: (path) => backend.download(urls.get(path) ?? ''),
  };
}

/** Writes skills to folders beside a file, and returns these, relative to it. Changes nothing in a folder that holds something else. */
export async function writeSkillFolders(whole: readonly SkillToExport[], file: string | null) {
  const [first] = whole;
  if (file === null && first !== undefined) {
    const names = whole.map(({ skill }) => skill.name).join(', ');
    throw new SvcError('invalid_input', `Standard output cannot hold the files of skills: ${names}.`, {
      hint: 'Name a file. The folders of skills are written beside it: svc apply exported.yaml --export',
    });
  }
  const places = whole.map((one) => ({ ...one, place: `./skills/${one.skill.name}` }));
  const plans = places.map((one) => {
    const folder = join(dirname(file ?? '.'), one.place);
    const changes = planFolder(folder, one.skill);
    if (changes.replaced.length + changes.removed.length > 0) {
      throw new SvcError('conflict', `"${folder}" holds other files than the skill.`, {
        hint: 'Name a file in another folder.',
      });
    }
    return { ...one, folder, changes };
  });
  for (const { folder, skill, changes, bytesOf } of plans) await writeFolder(folder, skill, { changes, bytesOf });
  return new Map(places.map(({ skill, place }) => [skill.name, place]));
}
