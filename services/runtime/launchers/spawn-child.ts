import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Reason } from '../../contracts/bus/messages.ts';
import { type ChildEnvironmentOptions, childEnvironment } from './child-environment.ts';
import { type Exit, explainExit, explainSpawnError } from './explain-exit.ts';

/** A process that is to speak MCP on its standard input and output. */
export interface ChildOrder {
  readonly command: string;
  readonly args: readonly string[];
  /** Absolute, and there. */
  readonly cwd: string;
  readonly environment: ChildEnvironmentOptions;
}

export interface SpawnedChild {
  /** Head of a session of its own, with the mark in its environment. */
  readonly process: ChildProcessWithoutNullStreams;
  /** It only holds what runs inside: that is asked to end, and takes it along. */
  readonly isHolder: boolean;
  /** Why it ended. */
  explain(exit: Exit): Reason;
}

export type Spawned =
  | { readonly ok: true; readonly child: SpawnedChild }
  | { readonly ok: false; readonly reason: Reason };

/** A way to bring the process of an MCP server into being. */
export type SpawnChild = (order: ChildOrder) => Promise<Spawned>;

/** As a process like any other of the runtime's user. */
export const spawnOpenly: SpawnChild = async ({ command, args, cwd, environment }) => {
  try {
    const env = childEnvironment(environment);
    const process = spawn(command, args, { cwd, env, stdio: 'pipe', detached: true, shell: false });
    await once(process, 'spawn');
    return { ok: true, child: { process, isHolder: false, explain: explainExit } };
  } catch (error) {
    return { ok: false, reason: explainSpawnError(command, error) };
  }
};
