import { suggestion } from '../../services/contracts/did-you-mean.ts';
import { mcpServersMax, rolesMax, skillsMax } from '../../services/contracts/workspace-limits.ts';
import type { Plan, PlannedChange } from './plan-changes.ts';
import type { Place, PlacedMistake, WantedObject } from './wanted-workspace.ts';

/** Mistakes that only the live workspace shows: unknown names, forbidden launches, and more objects than its limits. */
export function checkPlan(plan: Plan): readonly PlacedMistake[] {
  const { live } = plan;
  return [
    ...referencesIn(plan).flatMap(unknownNames),
    ...plan.mcpServers.flatMap((change) => missingLaunch(change, live)),
    ...plan.mcpServers.flatMap((change) => forbiddenLaunch(change, live)),
    ...tooMany('MCP servers', mcpServersMax, plan.mcpServers, live.mcpServers.length),
    ...tooMany('skills', skillsMax, plan.skills, live.skills.length),
    ...tooMany('roles', rolesMax, plan.roles, live.roles.length),
  ];
}

interface References {
  readonly place: Place;
  readonly subject: string;
  readonly names: readonly string[];
  readonly kind: string;
  readonly known: ReadonlySet<string>;
}

function referencesIn({ wanted, live, removals }: Plan): readonly References[] {
  const after = (section: 'mcpServers' | 'skills') =>
    namesOf([...wanted[section], ...live[section]]).difference(namesOf(removals[section]));
  const runtime = { kind: 'a runtime', known: new Set(live.runtimes) };
  const mcpServer = { kind: 'an MCP server', known: after('mcpServers') };
  const skill = { kind: 'a skill', known: after('skills') };
  return [
    ...wanted.mcpServers.map(({ name, place, runtime: chosen }) => {
      const names = chosen == null ? [] : [chosen];
      return { ...runtime, place, subject: `The MCP server "${name}" runs on`, names };
    }),
    ...wanted.skills.map(({ name, place, tools = [] }) => {
      const names = tools.map((tool) => tool.mcpServer);
      return { ...mcpServer, place, subject: `The skill "${name}" takes tools from`, names };
    }),
    ...wanted.roles.map(({ name, place, skills = [] }) => {
      return { ...skill, place, subject: `The role "${name}" has`, names: skills };
    }),
    ...wanted.roles.map(({ name, place, allow = [], deny = [] }) => {
      const names = [...allow, ...deny].map((tool) => tool.mcpServer);
      return { ...mcpServer, place, subject: `The role "${name}" has rules about tools of`, names };
    }),
  ];
}

function namesOf(objects: readonly { readonly name: string }[]): ReadonlySet<string> {
  return new Set(objects.map(({ name }) => name));
}

const suggestedMax = 50;

function unknownNames({ place, subject, names, kind, known }: References): readonly PlacedMistake[] {
  return [...new Set(names).difference(known)].map((name) => {
    const hint = known.size === 0 ? 'There is none yet.' : suggestion(name, [...known].slice(0, suggestedMax));
    return { ...place, message: `${subject} "${name}", which is not ${kind} here. ${hint}` };
  });
}

/** Only an existing MCP server can be changed without its command or URL. */
function missingLaunch(
  { wanted: { name, place } }: PlannedChange<WantedObject, unknown>,
  { launches }: Plan['live'],
): readonly PlacedMistake[] {
  if (launches.get(name) !== null) return [];
  return [{ ...place, message: `The MCP server "${name}" does not exist yet, so it must have a command or a url.` }];
}

/** An unchanged launch may stay, even when the installation no longer allows it. */
function forbiddenLaunch(
  { action, wanted: { name, place } }: PlannedChange<WantedObject, unknown>,
  { judged }: Plan['live'],
): readonly PlacedMistake[] {
  const refusal = judged.get(name)?.launchRefusal ?? null;
  if (action === 'none' || refusal === null) return [];
  return [{ ...place, message: `The MCP server "${name}" is not allowed here. ${refusal}` }];
}

/** Reported at the first new object beyond the limit. */
function tooMany(
  what: string,
  max: number,
  changes: readonly PlannedChange<WantedObject, unknown>[],
  liveCount: number,
): readonly PlacedMistake[] {
  const added = changes.filter(({ action }) => action === 'create');
  const first = added[Math.max(0, max - liveCount)];
  if (first === undefined) return [];
  const present = liveCount === 0 ? '' : `, and it has ${liveCount} already`;
  const message = `A workspace may have ${max} ${what}: the files add ${added.length}${present}.`;
  return [{ ...first.wanted.place, message }];
}
