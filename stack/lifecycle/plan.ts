import { basename } from 'node:path';
import { type Addresses, addressesOf } from '../addresses.ts';
import { partInContainer } from '../engines/docker/part-in-container.ts';
import { type Environment, environmentOf } from '../environment.ts';
import { hasOwnGraph, isGraphOnLoopback } from '../graph/has-own-graph.ts';
import type { Installation } from '../installation.ts';
import type { Part } from '../part.ts';
import { partsOf } from '../parts.ts';
import { leasedPorts } from '../ports/port-lease.ts';
import { type Ports, portWishesOf } from '../ports/port-wishes.ts';
import { fingerprintOf, type SecretFiles, secretFilesOf } from '../secrets.ts';
import { readDefinition } from '../settings/check.ts';
import type { Definition } from '../settings/definition.ts';
import { ownVersion } from '../version.ts';

/** Everything that a platform is started with, decided before anything is. */
export interface Plan {
  readonly installation: Installation;
  readonly definition: Definition;
  readonly ports: Ports;
  readonly addresses: Addresses;
  readonly environment: Environment;
  readonly parts: readonly Part[];
  readonly secrets: SecretFiles;
  readonly version: string;
}

/** The plan that svc.yaml and the leased ports make. */
export function readPlan(installation: Installation): Plan {
  return planOf(installation, readDefinition(installation.definitionFile));
}

/** The plan that another definition makes with the leased ports. */
export function planOf(installation: Installation, definition: Definition): Plan {
  return planFor(installation, definition, leasedPorts(installation, portWishesOf(definition)));
}

export function planFor(installation: Installation, definition: Definition, ports: Ports): Plan {
  const addresses = addressesOf(definition, ports);
  const secrets = secretFilesOf(installation);
  const of = { installation, definition, ports, addresses, secrets };
  const environment = environmentOf(of);
  const onThisMachine = partsOf(of, environment);
  const parts =
    definition.engine === 'docker'
      ? onThisMachine.map((part) => partInContainer(part, { definition, parts: onThisMachine }))
      : onThisMachine;
  return { ...of, environment, parts, version: ownVersion() };
}

const clusters = ['nats', 'dgraph-zero', 'dgraph-alpha'] as const;

export type Settings = Readonly<Record<string, string>>;

/**
 * The plan as a flat list by name, secrets as fingerprints: what two plans differ in can be said line by line. What belongs to one part
 * begins with its name and a space.
 */
export function settingsOf({ definition, parts, secrets, version }: Plan): Settings {
  const { topology, bus, logs, replicas } = definition;
  return {
    version,
    topology,
    graph: graphIn(definition),
    ...(topology === 'embedded' ? { 'bus.persistentMessaging': String(bus.persistentMessaging) } : {}),
    // The nodes of a cluster find each other as all of them start: one that comes alone, with another secret, is let in by none.
    ...(replicas.nats > 1 ? printsOf('', [secrets.busRoutes]) : {}),
    ...(isGraphOnLoopback(definition) ? printsOf('', [secrets.graphNodeCertificate]) : {}),
    ...Object.fromEntries(clusters.map((node) => [`replicas.${node}`, String(replicas[node])])),
    'logs.fileSizeMaxMb': String(logs.fileSizeMaxMb),
    'logs.filesKept': String(logs.filesKept),
    ...Object.assign({}, ...parts.map(settingsOfPart)),
  };
}

/** Which one it is. In another one nobody is who he was, so that it concerns all parts. */
function graphIn(definition: Definition): string {
  const { graph, graphdb } = definition;
  return graph === 'sqlite' || hasOwnGraph(definition) ? graph : `${graph} at ${graphdb.url}`;
}

export function settingsOfPart({ name, variables, secrets }: Part): Settings {
  const values = Object.entries(variables).map(([variable, value]) => [`${name} ${variable}`, value]);
  return { ...Object.fromEntries(values), ...printsOf(`${name} `, secrets) };
}

function printsOf(owner: string, files: readonly string[]): Settings {
  return Object.fromEntries(files.map((file) => [`${owner}secrets/${basename(file)}`, fingerprintOf(file)]));
}

/** What would change, one line each, in the order of the names; none where nothing would. A part that comes or goes is one line. */
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

/** The names of the parts that differ, or null where something does that concerns all of them. */
export function partsThatDiffer(before: Settings, after: Settings): ReadonlySet<string> | null {
  const parts = differences(before, after).map(partOf);
  return parts.includes(null) ? null : new Set(parts.filter((part) => part !== null));
}

function differences(before: Settings, after: Settings): readonly string[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  return names.filter((name) => before[name] !== after[name]);
}

/** The part that a setting belongs to, or null where it concerns all of them. */
export function partOf(setting: string): string | null {
  const end = setting.indexOf(' ');
  return end === -1 ? null : setting.slice(0, end);
}

function hasPart(settings: Settings, part: string): boolean {
  return Object.keys(settings).some((name) => partOf(name) === part);
}
