import type { Command } from '../contracts/bus/messages.ts';
import type { ProcessId, RuntimeId } from '../contracts/ids.ts';
import type { Bus } from '../kit/bus/bus.ts';
import type { Log } from '../kit/log.ts';
import type { Config } from './config.ts';
import type { Blobs } from './files/blobs.ts';
import type { Graph } from './graph/graph.ts';
import type { Processes } from './runtimes/processes.ts';
import type { Secrets } from './secrets/secrets.ts';
import type { SigningKeys } from './tokens/signing-keys.ts';
import type { VerifyToken } from './tokens/verify-token.ts';

/** Everything the backend is made of, built once. Functions take the part they need: `Pick<Backend, 'graph' | 'bus'>`. */
export interface Backend {
  readonly config: Config;
  /** Version of the program. */
  readonly version: string;
  readonly process: ProcessId;
  readonly graph: Graph;
  readonly bus: Bus;
  readonly blobs: Blobs;
  readonly log: Log;
  readonly secrets: Secrets;
  readonly signingKeys: SigningKeys;
  readonly verifyToken: VerifyToken;
  /** Runtime processes that live. */
  readonly processes: Processes;
  /** Sends a command to every live process of these runtimes; a lost one is made up for by the etag of the next handshake. */
  readonly commandRuntimes: (runtimes: readonly RuntimeId[], command: Command) => void;
}
