import { mistakeAt, type PlacedMistake } from './mistakes.ts';
import type { Place, WantedWorkspace } from './wanted-workspace.ts';

/** Several files as one, workspace by workspace. */
export function mergeWanted(files: readonly WantedWorkspace[]): readonly WantedWorkspace[] {
  const merged = new Map<string, WantedWorkspace>();
  for (const wanted of files) {
    const before = merged.get(wanted.workspace);
    merged.set(wanted.workspace, {
      workspace: wanted.workspace,
      mcpServers: [...(before?.mcpServers ?? []), ...wanted.mcpServers],
      skills: [...(before?.skills ?? []), ...wanted.skills],
      roles: [...(before?.roles ?? []), ...wanted.roles],
    });
  }
  return [...merged.values()];
}

/** Objects that two files define, or one file twice. */
export function saidTwice({ mcpServers, skills, roles }: WantedWorkspace): readonly PlacedMistake[] {
  return [...twice('MCP server', mcpServers), ...twice('skill', skills), ...twice('role', roles)];
}

function twice(kind: string, things: readonly { readonly name: string; readonly place: Place }[]): PlacedMistake[] {
  const first = new Map<string, Place>();
  return things.flatMap(({ name, place }) => {
    // One without a name was reported already.
    if (name === '') return [];
    const known = first.get(name);
    first.set(name, known ?? place);
    return known === undefined
      ? []
      : [mistakeAt(place, `The ${kind} "${name}" is defined already, at ${known.file}:${known.line}.`)];
  });
}
