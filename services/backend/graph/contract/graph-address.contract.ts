import { Secret } from '../../../contracts/secret.ts';
import type { Graph } from '../graph.ts';
import { openGraph } from '../open-graph.ts';

/** The address of a graph, in a form that can be passed to another process. */
export interface GraphAddress {
  readonly url: string;
  readonly user?: string;
  readonly password?: string;
  readonly namespace?: number;
}

export function openAt({ password, ...address }: GraphAddress): Promise<Graph> {
  return openGraph({ ...address, password: password === undefined ? undefined : new Secret(password) });
}
