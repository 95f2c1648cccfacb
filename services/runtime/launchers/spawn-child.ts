import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Reason } from '../../contracts/bus/messages.ts';
import type { Author } from '../../contracts/sandbox.ts';
import { type ChildEnvironmentOptions, childEnvironment } from './child-environment.ts';
import { explainExit, explainSpawnError } from './explain-exit.ts';
import type { Look } from './processes.ts';
import { type Program, programOf } from './program.ts';
import { TreeWatch } from './tree-watch.ts';

/** A program to start that speaks MCP on its standard input and output. */
export interface ChildOrder {
  /** The MCP server's name, for people. */
  readonly name: string;
  /** The author of this command. */
  readonly setBy: Author;
  readonly command: string;
  readonly args: readonly string[];
  /** Absolute and existing. */
  readonly cwd: string;
  readonly environment: ChildEnvironmentOptions;
}

export type SpawnResult =
  | { readonly ok: true; readonly program: Program }
  | { readonly ok: false; readonly reason: Reason };

/** Starts the program of an MCP server. */
export type SpawnChild = (order: ChildOrder) => Promise<SpawnResult>;

/** Starts it as an ordinary process of the runtime's user. */
export function createSpawnOpenly(look: Look): SpawnChild {
  const watch = new TreeWatch(look);
  return async ({ command, args, cwd, environment }) => {
    try {
      const env = childEnvironment(environment);
      const process = spawn(command, args, { cwd, env, stdio: 'pipe', detached: true, shell: false });
      await once(process, 'spawn');
      const { mark } = environment;
      return { ok: true, program: programOf(process, { mark, isHolder: false, look, watch, explain: explainExit }) };
    } catch (error) {
      return { ok: false, reason: explainSpawnError(command, error) };
    }
  };
}
