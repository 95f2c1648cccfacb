import { SvcError } from '../../services/contracts/errors.ts';
import { describeMistakes } from '../yaml-text.ts';
import type { Place, Wanted } from './wanted.ts';

/** Several files as one, workspace by workspace. Throws where two of them, or one twice, say what the same thing shall be. */
export function mergeWanted(files: readonly Wanted[]): readonly Wanted[] {
  const merged = new Map<string, Wanted>();
  for (const wanted of files) {
    const before = merged.get(wanted.workspace);
    merged.set(wanted.workspace, {
      workspace: wanted.workspace,
      mcpServers: [...(before?.mcpServers ?? []), ...wanted.mcpServers],
      skills: [...(before?.skills ?? []), ...wanted.skills],
      roles: [...(before?.roles ?? []), ...wanted.roles],
    });
  }
  const lines = [...merged.values()].flatMap(({ mcpServers, skills, roles }) => [
    ...twice('MCP server', mcpServers),
    ...twice('skill', skills),
    ...twice('role', roles),
  ]);
  if (lines.length > 0) throw new SvcError('invalid_input', lines.join('\n'));
  return [...merged.values()];
}

function twice(kind: string, things: readonly { readonly name: string; readonly place: Place }[]): readonly string[] {
  const first = new Map<string, Place>();
  return things.flatMap(({ name, place }) => {
    const known = first.get(name);
    first.set(name, known ?? place);
    if (known === undefined) return [];
    const message = `The ${kind} "${name}" is there already, at ${known.file}:${known.line}.`;
    return [describeMistakes(place.file, [{ ...place, message }])];
  });
}
