import { suggestion } from '../../services/contracts/did-you-mean.ts';
import { mcpServersMax, rolesMax, skillsMax } from '../../services/contracts/workspace-limits.ts';
import { mistakeAt, type PlacedMistake } from './mistakes.ts';
import type { Live } from './read-live.ts';
import type { Place, WantedWorkspace } from './wanted-workspace.ts';

/** Checks the files against the live workspace: unknown names, and more than its limits. */
export function checkAgainstLive(wanted: WantedWorkspace, live: Live, prune: boolean): readonly PlacedMistake[] {
  const namesAfter = (wishes: readonly Named[], present: readonly Named[]) =>
    new Set([...wishes, ...(prune ? [] : present)].map(({ name }) => name));
  const runtime = { kind: 'a runtime', known: new Set(live.runtimes) };
  const mcpServer = { kind: 'an MCP server', known: namesAfter(wanted.mcpServers, live.mcpServers) };
  const skill = { kind: 'a skill', known: namesAfter(wanted.skills, live.skills) };
  const references = [
    ...wanted.mcpServers.map(({ name, place, runtime: asked }) => {
      return { ...runtime, place, subject: `The MCP server "${name}" runs on`, names: asked === null ? [] : [asked] };
    }),
    ...wanted.skills.map(({ name, place, tools }) => {
      const names = tools.map((tool) => tool.mcpServer);
      return { ...mcpServer, place, subject: `The skill "${name}" takes tools from`, names };
    }),
    ...wanted.roles.map(({ name, place, skills }) => {
      return { ...skill, place, subject: `The role "${name}" has`, names: skills };
    }),
  ];
  return [
    ...references.flatMap(({ kind, known, place, subject, names }) =>
      unknown(names, known).map((missing) =>
        mistakeAt(place, `${subject} "${missing}", which is not ${kind} here. ${hintFor(missing, known)}`),
      ),
    ),
    ...tooMany('MCP servers', mcpServersMax, wanted.mcpServers, live.mcpServers),
    ...tooMany('skills', skillsMax, wanted.skills, live.skills),
    ...tooMany('roles', rolesMax, wanted.roles, live.roles),
  ];
}

interface Named {
  readonly name: string;
}

function unknown(asked: readonly string[], known: ReadonlySet<string>): readonly string[] {
  return [...new Set(asked)].filter((name) => !known.has(name));
}

function hintFor(name: string, known: ReadonlySet<string>): string {
  return known.size === 0 ? 'There is none yet.' : suggestion(name, [...known].slice(0, suggestedMax));
}

const suggestedMax = 50;

/** Objects to remove count too, because they are removed last. Reported at the first one beyond the limit. */
function tooMany(
  what: string,
  max: number,
  wishes: readonly (Named & { readonly place: Place })[],
  present: readonly Named[],
): readonly PlacedMistake[] {
  const names = new Set(present.map(({ name }) => name));
  const added = wishes.filter(({ name }) => !names.has(name));
  const first = added[Math.max(0, max - names.size)];
  if (first === undefined) return [];
  const there = names.size === 0 ? '' : `, and it has ${names.size} already`;
  return [mistakeAt(first.place, `A workspace may have ${max} ${what}: the files add ${added.length}${there}.`)];
}
