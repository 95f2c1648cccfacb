import { basename } from 'node:path';
import type { Part } from '../parts/part.ts';
import { fingerprintOf } from '../secrets/secrets.ts';
import { type Definition, hasOwnGraph } from '../settings/definition.ts';
import type { Plan } from './plan.ts';

const clusters = ['nats', 'dgraph-zero', 'dgraph-alpha'] as const;

export type Settings = Readonly<Record<string, string>>;

/** The plan as a list that can be compared. Entries of one part begin with its name and a space. */
export function settingsOf({ definition, parts, secrets, version }: Plan): Settings {
  const { topology, bus, logs, replicas } = definition;
  const has = (file: string) => parts.some((part) => part.secrets.includes(file));
  return {
    version,
    topology,
    graph: graphIn(definition),
    ...(topology === 'embedded' ? { 'bus.persistentMessaging': String(bus.persistentMessaging) } : {}),
    // The nodes of a cluster start together: a single node with another secret is refused by the others.
    ...(replicas.nats > 1 ? printsOf('', [secrets.busRoutes]) : {}),
    ...(has(secrets.graphNodeCertificate) ? printsOf('', [secrets.graphNodeCertificate]) : {}),
    ...Object.fromEntries(clusters.map((node) => [`replicas.${node}`, String(replicas[node])])),
    'logs.fileSizeMaxMb': String(logs.fileSizeMaxMb),
    'logs.filesKept': String(logs.filesKept),
    ...Object.assign({}, ...parts.map(settingsOfPart)),
  };
}

/** The graph's identity. A different graph has different users, so changing it restarts every part. */
function graphIn(definition: Definition): string {
  const { graph, graphdb } = definition;
  return graph === 'sqlite' || hasOwnGraph(definition) ? graph : `${graph} at ${graphdb.url}`;
}

export function settingsOfPart({ name, variables, secrets }: Part): Settings {
  const values = Object.entries(variables).map(([variable, value]) => [`${name} ${variable}`, value]);
  return { ...Object.fromEntries(values), ...printsOf(`${name} `, secrets) };
}

/** Replaces the settings of one part by those in another list. */
export function replacePart(settings: Settings, part: string, source: Settings): Settings {
  const others = Object.entries(settings).filter(([name]) => partOf(name) !== part);
  const replaced = Object.entries(source).filter(([name]) => partOf(name) === part);
  return Object.fromEntries([...others, ...replaced]);
}

function printsOf(owner: string, files: readonly string[]): Settings {
  return Object.fromEntries(files.map((file) => [`${owner}secrets/${basename(file)}`, fingerprintOf(file)]));
}

/** The differences, one line each, in the order of the names. An added or removed part is one line. */
export function changesBetween(before: Settings, after: Settings): readonly string[] {
  const lines = new Set<string>();
  for (const name of differences(before, after)) {
    const part = partOf(name);
    if (part !== null && !hasPart(before, part)) lines.add(`${part}: new`);
    else if (part !== null && !hasPart(after, part)) lines.add(`${part}: no more`);
    else lines.add(`${name}: ${before[name] ?? 'unset'} → ${after[name] ?? 'unset'}`);
  }
  return [...lines];
}

/** The names of the parts that differ, or null when a difference concerns all of them. */
export function partsThatDiffer(before: Settings, after: Settings): ReadonlySet<string> | null {
  const parts = differences(before, after).map(partOf);
  return parts.includes(null) ? null : new Set(parts.filter((part) => part !== null));
}

function differences(before: Settings, after: Settings): readonly string[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  return names.filter((name) => before[name] !== after[name]);
}

/** The part of a setting, or null when it concerns all of them. */
function partOf(setting: string): string | null {
  const end = setting.indexOf(' ');
  return end === -1 ? null : setting.slice(0, end);
}

function hasPart(settings: Settings, part: string): boolean {
  return Object.keys(settings).some((name) => partOf(name) === part);
}
