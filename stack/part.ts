import type { ServiceName } from '../services/contracts/env/variables.ts';

/** One of the things that a platform consists of and that run: in its one process, or each in its own. */
export interface Part {
  /** As in `services[].name`: remote-mcp, remote-mcp-2, … */
  readonly name: string;
  readonly service: ServiceName | ForeignService;
  /** Where it is reached from this machine. */
  readonly url: string;
  /** Answers 200 while it is ready. */
  readonly readyUrl: string;
  /** Where else it listens. */
  readonly otherUrls?: readonly string[];
  /** What must be healthy before it is started. */
  readonly after: readonly string[];
  /** What it is started with: a service's environment, or the places in the configuration of a program of somebody else's. */
  readonly variables: Readonly<Record<string, string>>;
  /** Files in secrets/ that it reads at its start. */
  readonly secrets: readonly string[];
}

/** All that it listens on, each host and port once. */
export function listensAt({ url, readyUrl, otherUrls = [] }: Part): readonly string[] {
  return [...new Map([url, readyUrl, ...otherUrls].map((one) => [new URL(one).host, one])).values()];
}

/** Programs of somebody else's. */
const foreignServices = ['nats', 'dgraph-zero', 'dgraph-alpha', 'caddy'] as const;
export type ForeignService = (typeof foreignServices)[number];

export function isForeign(service: Part['service']): service is ForeignService {
  return foreignServices.some((one) => one === service);
}
