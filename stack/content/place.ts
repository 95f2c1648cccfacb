import type { Part } from '../parts/part.ts';
import { firstOf } from '../parts/parts.ts';

export type Kinds = Readonly<Record<'bus' | 'graph' | 'blobs', boolean>>;

export const allKinds: Kinds = { bus: true, graph: true, blobs: true };
export const noKinds: Kinds = { bus: false, graph: false, blobs: false };

/** Content of a platform, opened by its engine while no backend works on it. */
export interface Place extends AsyncDisposable {
  /** The kinds that were asked for and are there. */
  readonly there: Kinds;
  /** The folder with the files of the graph and of an embedded bus. It holds copies if the originals are in a volume. */
  readonly dir: string;
  /** Runs the nodes that keep the rest. */
  run(kinds: Kinds): Promise<Alone>;
  save(): Promise<void>;
}

export interface Opening {
  readonly kinds: Kinds;
  /** `fill` makes what is missing, `read` changes nothing. */
  readonly to: 'read' | 'fill';
  readonly isRunning?: boolean;
}

/** Nodes of a platform's bus and graph that run without its other parts, so that data can be carried. */
export interface Alone {
  /** Where the nodes of NATS are reached from this machine; none where none run. */
  readonly bus: readonly string[];
  /** Where data nodes of Dgraph are, asked over HTTP and over gRPC; null where none run. */
  readonly graph: { readonly urls: readonly string[]; readonly servers: readonly string[] } | null;
  /** Ends them and leaves nothing of them but what they keep. */
  stop(): Promise<void>;
}

export function keepsBlobs({ parts }: { readonly parts: readonly Part[] }): boolean {
  return firstOf('backend', parts).variables.FILES_DIR === undefined;
}

/** How long the key of a session is kept. */
export function keyMaxAgeOf({ parts }: { readonly parts: readonly Part[] }): number {
  return Number(firstOf('remote-mcp', parts).variables.SVC_SESSION_IDLE_TIMEOUT_MS);
}
