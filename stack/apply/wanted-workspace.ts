import { SvcError } from '../../services/contracts/errors.ts';
import { describeMistakes, type Mistake, type Position } from '../settings/yaml-text.ts';
import type { FileContent } from './file-schema.ts';

/** The content of the files for one workspace, completely resolved. A field that the files do not name is undefined. */
export interface WantedWorkspace {
  readonly workspace: string;
  /** The kinds of objects that a file lists, even if the list is empty. */
  readonly sections: ReadonlySet<Section>;
  readonly mcpServers: readonly WantedMcpServer[];
  readonly skills: readonly WantedSkill[];
  readonly roles: readonly WantedRole[];
}

export type Section = 'mcpServers' | 'skills' | 'roles';

export interface WantedObject {
  readonly name: string;
  /** For mistakes that are found later. */
  readonly place: Place;
}

export interface Place extends Position {
  readonly file: string;
}

/** Its launch contains the secrets of the file. Its runtime is null for one of the platform's own. */
export type WantedMcpServer = WantedObject & NonNullable<FileContent['mcpServers']>[string];
export type WantedSkill = WantedObject & NonNullable<FileContent['skills']>[number];
export type WantedRole = WantedObject & NonNullable<FileContent['roles']>[number];

export function mergeFiles(files: readonly WantedWorkspace[]): readonly WantedWorkspace[] {
  const merged = new Map<string, WantedWorkspace>();
  for (const { workspace, sections, mcpServers, skills, roles } of files) {
    const before = merged.get(workspace) ?? { sections: new Set(), mcpServers: [], skills: [], roles: [] };
    merged.set(workspace, {
      workspace,
      sections: before.sections.union(sections),
      mcpServers: [...before.mcpServers, ...mcpServers],
      skills: [...before.skills, ...skills],
      roles: [...before.roles, ...roles],
    });
  }
  return [...merged.values()];
}

export type PlacedMistake = Mistake & Place;

/** Objects that two files define, or one file twice. */
export function findDuplicates({ mcpServers, skills, roles }: WantedWorkspace): readonly PlacedMistake[] {
  return [...duplicatesOf('MCP server', mcpServers), ...duplicatesOf('skill', skills), ...duplicatesOf('role', roles)];
}

function duplicatesOf(kind: string, objects: readonly WantedObject[]): readonly PlacedMistake[] {
  const first = new Map<string, Place>();
  return objects.flatMap(({ name, place }) => {
    const known = first.get(name);
    first.set(name, known ?? place);
    if (known === undefined) return [];
    return [{ ...place, message: `The ${kind} "${name}" is defined already, at ${known.file}:${known.line}.` }];
  });
}

/** One error with every mistake, file by file in the order of their lines; nothing without mistakes. */
export function refuseMistakes(mistakes: readonly PlacedMistake[]): void {
  const byFile = Map.groupBy(mistakes, ({ file }) => file);
  if (byFile.size === 0) return;
  throw new SvcError('invalid_input', [...byFile].map(([file, found]) => describeMistakes(file, found)).join('\n'));
}
