import type { ServiceName } from '../services/contracts/env/variables.ts';

/** One of the things that a platform consists of and that run: in its one process, or each in its own. */
export interface Part {
  /** As in `services[].name`: remote-mcp, remote-mcp-2, … */
  readonly name: string;
  readonly service: ServiceName | ForeignService;
  /** Where it is reached from this machine. */
  readonly url: string;
  readonly ready: ReadyCheck;
  /** Where else it listens. */
  readonly otherUrls?: readonly string[];
  /** What must be healthy before it is started. */
  readonly after: readonly string[];
  /** What it is started with: a service's environment, or the places in the configuration of a program of somebody else's. */
  readonly variables: Readonly<Record<string, string>>;
  /** Files in secrets/ that it reads at its start. */
  readonly secrets: readonly string[];
}

/** How a part is asked whether it is ready. `http`: the URL answers 200 while it is. `nats`: its client port answers to the seed in that file. */
export type ReadyCheck =
  | { readonly kind: 'http'; readonly url: string }
  | { readonly kind: 'nats'; readonly url: string; readonly seedFile: string };

/** A service says at /ready whether it is ready. */
export function readyAt(url: string): ReadyCheck {
  return { kind: 'http', url: `${url}/ready` };
}

/** All that it listens on, each host and port once. */
export function listensAt({ url, ready, otherUrls = [] }: Part): readonly string[] {
  return [...new Map([url, ready.url, ...otherUrls].map((one) => [new URL(one).host, one])).values()];
}

/** Programs of somebody else's. */
const foreignServices = ['nats', 'dgraph-zero', 'dgraph-alpha', 'caddy'] as const;
export type ForeignService = (typeof foreignServices)[number];

export function isForeign(service: Part['service']): service is ForeignService {
  return foreignServices.some((one) => one === service);
}
