import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import type { Reason } from '../../contracts/bus/messages.ts';
import { settledWithin } from '../time/settled-within.ts';
import type { Exit } from './explain-exit.ts';
import { endTree } from './process-tree.ts';
import type { Look } from './processes.ts';
import type { TreeWatch } from './tree-watch.ts';

/** What speaks MCP on its standard input and output, wherever it runs. */
export interface Program {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Where it is a process of this machine, and its parent is this one. */
  readonly pid: number | null;
  /** Resolves once it has ended. What it wrote last may still be on its way. */
  readonly exited: Promise<Ended>;
  /** One whose pipe has closed is probably ending. Its exit, which tells more, is known this long afterwards. */
  readonly exitAfterPipeMs: number;
  /** Records the process tree before anything can end it. */
  aboutToEnd(): Promise<void>;
  /** Asks it and all that it started to end, and ends by force what has not after the grace. Throws what could not be ended. */
  end(graceMs: number): Promise<void>;
  /** Why it ended. */
  explain(exit: Exit): Reason;
}

export type Ended = Pick<Exit, 'code' | 'signal'>;

export interface ProcessTraits {
  /** In its environment, and in that of whatever it starts. */
  readonly mark: string;
  /** It only holds what runs inside: that is asked to end, and takes it along. */
  readonly isHolder: boolean;
  readonly look: Look;
  /** Where nothing else holds what it starts together. */
  readonly watch?: TreeWatch;
  readonly explain: (exit: Exit) => Reason;
}

/** A process that has just been started as the head of a session of its own. */
export function programOf(process: ChildProcessWithoutNullStreams, traits: ProcessTraits): Program {
  const { mark, isHolder, look, watch, explain } = traits;
  const { stdin, stdout, stderr, pid = 0 } = process;
  const ended = () => ({ code: process.exitCode, signal: process.signalCode });
  const hasEnded = process.exitCode !== null || process.signalCode !== null;
  const exited = (hasEnded ? Promise.resolve() : once(process, 'exit')).then(ended);
  process.on('error', () => {}); // After the start: a signal that could not be sent.
  const root = { pid, birth: null, mark, current: true, isHolder };
  const watched = watch?.watch(root);
  // From then on its pid may become another's.
  void exited.then(() => watched?.end());
  return {
    ...{ stdin, stdout, stderr, pid, exited, exitAfterPipeMs: 500, explain },
    aboutToEnd: async () => watched?.note(),
    async end(graceMs) {
      try {
        const left = await endTree(root, { look, known: watched?.known() ?? [], graceMs });
        if (left.length > 0) throw new Error(`the processes ${left.join(', ')} live on`);
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
