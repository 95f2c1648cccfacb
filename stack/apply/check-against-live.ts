import { suggestion } from '../../services/contracts/did-you-mean.ts';
import { mcpServersMax, rolesMax, skillsMax } from '../../services/contracts/workspace-limits.ts';
import { mistakeAt, type PlacedMistake } from './mistakes.ts';
import type { Live } from './read-live.ts';
import type { Place, Wanted } from './wanted.ts';

/** What is wrong with what the files ask for, given what the workspace holds: names that lead nowhere, and more than it takes. */
export function checkAgainstLive(wanted: Wanted, live: Live, prune: boolean): readonly PlacedMistake[] {
  const known = (wishes: readonly Named[], present: readonly Named[]) => [
    ...new Set([...wishes, ...(prune ? [] : present)].map(({ name }) => name)),
  ];
  const mcpServers = known(wanted.mcpServers, live.mcpServers);
  const skills = known(wanted.skills, live.skills);
  return [
    ...wanted.mcpServers.flatMap(({ name, place, runtime }) =>
      unknown(runtime === null ? [] : [runtime], live.runtimes).map((missing) =>
        mistakeAt(
          place,
          `The MCP server "${name}" runs on "${missing}", which is no runtime here. ${hintFor(missing, live.runtimes)}`,
        ),
      ),
    ),
    ...wanted.skills.flatMap(({ name, place, tools }) =>
      unknown(
        tools.map(({ mcpServer }) => mcpServer),
        mcpServers,
      ).map((missing) =>
        mistakeAt(
          place,
          `The skill "${name}" takes tools from "${missing}", which is no MCP server here. ${hintFor(missing, mcpServers)}`,
        ),
      ),
    ),
    ...wanted.roles.flatMap(({ name, place, skills: asked }) =>
      unknown(asked, skills).map((missing) =>
        mistakeAt(place, `The role "${name}" has "${missing}", which is no skill here. ${hintFor(missing, skills)}`),
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

function unknown(asked: readonly string[], known: readonly string[]): readonly string[] {
  const names = new Set(known);
  return [...new Set(asked)].filter((name) => !names.has(name));
}

function hintFor(name: string, known: readonly string[]): string {
  return known.length === 0 ? 'There is none yet.' : suggestion(name, known.slice(0, suggestedMax));
}

const suggestedMax = 50;

/** What goes, goes last: it counts too. Told at the first that is one too many. */
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
  const there = names.size === 0 ? '' : `, and ${names.size} are there already`;
  return [mistakeAt(first.place, `A workspace takes ${max} ${what}: the files add ${added.length}${there}.`)];
}
