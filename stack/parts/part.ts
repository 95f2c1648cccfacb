import type { ServiceName } from '../../services/contracts/env/variables.ts';
import type { NeededProgram } from '../machine/check-program.ts';
import type { Definition } from '../settings/definition.ts';
import type { PartKind } from '../settings/ports.ts';

/** A process of the platform, or a part inside its single process, with everything to run it. */
export interface Part {
  /** As in `services[].name`: remote-mcp, remote-mcp-2, … */
  readonly name: string;
  readonly service: PartKind;
  /** Its address on this machine, or among the parts if it has none here. */
  readonly url: string;
  readonly ready: ReadyCheck;
  /** Further addresses that it listens on. */
  readonly otherUrls?: readonly string[];
  /** Parts that must be healthy before it starts. */
  readonly after: readonly string[];
  readonly program: Program;
  /** The environment of a service, or the values in the configuration of another program. */
  readonly variables: Readonly<Record<string, string>>;
  /** Files of this machine that its configuration depends on. A changed file restarts the part. */
  readonly secrets: readonly string[];
  readonly files: readonly SiteFile[];
  /** Its data; null for a part without data. */
  readonly keeps: PartData | null;
  /** Ports that are reached from outside of the platform. */
  readonly published: readonly PublishedPort[];
  readonly rooms: readonly Room[];
  /** Folders of this machine that it may read. */
  readonly sees: readonly string[];
  readonly limits: Limits;
}

/** A file, and its path as a part sees it. */
export interface SiteFile {
  readonly file: string;
  readonly path: string;
}

export interface PartData {
  /** In data/. */
  readonly folder: string;
  /** The end of the name of its volume. */
  readonly volume: string;
}

export interface PublishedPort {
  /** The port that the part listens on. */
  readonly inside: number;
  readonly host: string;
  readonly port: number;
}

/** Parts in one room reach each other. Only the platform's room has a route to this machine and the Internet. */
export type Room = 'platform' | 'bus' | 'graph';

export interface Limits {
  /** From its start until it is ready. */
  readonly startMaxMs: number;
  readonly memoryMaxMb: number;
  readonly processesMax: number;
  readonly temporary: { readonly sizeMb: number; readonly isExecutable: boolean };
  readonly capabilities: readonly string[];
}

/** `service`: Node runs it from this package. `foreign`: a program of others. */
export type Program = { readonly kind: 'service'; readonly service: ServiceName } | ForeignProgram;

export interface ForeignProgram extends NeededProgram {
  readonly kind: 'foreign';
  /** The image that contains it, by its name in svc.yaml. */
  readonly image: Exclude<keyof Definition['images'], 'base'>;
  readonly args: (configuration: string) => readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly configuration: {
    /** The name of its file, unique among the parts. */
    readonly name: string;
    readonly write: (facts: ConfigurationFacts) => string;
    readonly dependsOnVersion?: boolean;
  };
  /** The command in its image that checks whether a URL answers 200. */
  readonly ask: (url: string) => readonly string[];
}

/** Values of a configuration that only the engine knows. */
export interface ConfigurationFacts {
  readonly readSecret: (file: string) => string;
  /** The addresses that may administer the graph. */
  readonly admins: string;
  readonly version: string | null;
}

/** `http`: the URL answers 200. `nats`: its client port accepts the seed in that file. */
export type ReadyCheck =
  | { readonly kind: 'http'; readonly url: string }
  | { readonly kind: 'nats'; readonly url: string; readonly seedFile: string };

/** A service reports its readiness at /ready. */
export function readyAt(url: string): ReadyCheck {
  return { kind: 'http', url: `${url}/ready` };
}

/** Every address that it listens on, each host and port once. */
export function listensAt({ url, ready, otherUrls = [] }: Part): readonly string[] {
  return [...new Map([url, ready.url, ...otherUrls].map((one) => [new URL(one).host, one])).values()];
}

/** The file of this machine at this path of a part. */
export function fileAt(path: string, { files }: Part): string {
  return files.find((one) => one.path === path)?.file ?? path;
}

export function isGraphNode({ service }: Part): boolean {
  return service === 'dgraph-zero' || service === 'dgraph-alpha';
}
