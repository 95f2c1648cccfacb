import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import type { Reason } from '../../contracts/bus/messages.ts';
import { settledWithin } from '../time/settled-within.ts';
import type { Exit } from './exit-causes.ts';
import { endTree } from './process-tree.ts';
import type { Look } from './processes.ts';
import type { TreeWatch } from './tree-watch.ts';

/** A running program that speaks MCP on its standard input and output. */
export interface Program {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Null when it is not a child process of this one. */
  readonly pid: number | null;
  /** Resolves once it has ended. Its last output may still arrive. */
  readonly exited: Promise<Ended>;
  /** A program whose pipe has closed is probably ending. Its exit, which says more, is known after this long. */
  readonly exitAfterPipeMs: number;
  /** Records the process tree before a signal can end it. */
  aboutToEnd(): Promise<void>;
  /**
   * Signals it and all its descendants to end, and kills the rest after the grace period. Throws the processes that
   * could not be ended.
   */
  end(graceMs: number): Promise<void>;
  /** Explains its end. */
  explain(exit: Exit): Reason;
}

export type Ended = Pick<Exit, 'code' | 'signal'>;

export interface ProcessTraits {
  /** A value in its environment, and in the environment of its descendants. */
  readonly mark: string;
  /** It only holds the processes inside: those are signalled, and it ends with them. */
  readonly isHolder: boolean;
  readonly look: Look;
  /** Set when no container or namespace holds its descendants together. */
  readonly watch?: TreeWatch;
  readonly explain: (exit: Exit) => Reason;
}

/** Wraps a process that has just been started as the head of a new session. */
export function programOf(process: ChildProcessWithoutNullStreams, traits: ProcessTraits): Program {
  const { mark, isHolder, look, watch, explain } = traits;
  const { stdin, stdout, stderr, pid = 0 } = process;
  const ended = () => ({ code: process.exitCode, signal: process.signalCode });
  const hasEnded = process.exitCode !== null || process.signalCode !== null;
  const exited = (hasEnded ? Promise.resolve() : once(process, 'exit')).then(ended);
  process.on('error', () => {}); // After the start, this is the error of a signal that could not be sent.
  const root = { pid, birth: null, mark, current: true, isHolder };
  const watched = watch?.watch(root);
  // From then on its pid may be reused.
  void exited.then(() => watched?.end());
  return {
    ...{ stdin, stdout, stderr, pid, exited, exitAfterPipeMs: 500, explain },
    aboutToEnd: async () => watched?.note(),
    async end(graceMs) {
      try {
        const left = await endTree(root, { look, known: watched?.known() ?? [], graceMs });
        if (left.length > 0) throw new Error(`the processes ${left.join(', ')} are still running`);
      } catch (error) {
        process.kill('SIGKILL');
        throw error;
      } finally {
        await settledWithin(exited, graceMs);
        for (const stream of process.stdio) stream?.destroy();
      }
    },
  };
}
