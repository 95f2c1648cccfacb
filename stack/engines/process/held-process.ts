import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, fstatSync, openSync } from 'node:fs';
import { SvcError } from '../../../services/contracts/errors.ts';
import { isAlive, type ProcessIdentity, startTimeOf } from '../../state/process-identity.ts';
import { describeExit, type Exit } from '../describe-exit.ts';
import { lastWords } from './last-words.ts';
import type { Ending } from './part-runner.ts';
import type { ProcessPlan } from './process-plan.ts';

/** A process that waits before it runs its program. */
export interface HeldProcess {
  readonly identity: ProcessIdentity;
  readonly ended: Promise<ProcessEnd>;
  /** Starts the program. */
  begin(): void;
}

/**
 * A shell waits for a line and then becomes the program, with the same process id. Nothing runs before the id is recorded, and the shell
 * ends if the recording process is killed.
 */
const waitThenBecome = 'read -r _ && exec "$0" "$@" </dev/null';

/**
 * The process heads its own process group, so that all its children can be ended. It writes its log itself, so that it can outlive its
 * parent.
 */
export function holdProcess({ program, args, env, cwd, log, isClosed }: ProcessPlan): HeldProcess {
  const output = openSync(log, 'a', 0o600);
  try {
    const from = fstatSync(output).size;
    // Not execa: the process outlives this one and writes to its log by itself.
    const child = spawn(
      '/bin/sh',
      ['-c', isClosed ? `umask 077 && ${waitThenBecome}` : waitThenBecome, program, ...args],
      {
        cwd,
        env,
        detached: true,
        stdio: ['pipe', output, output],
      },
    );
    const ended = endOf(child).then((exit) => ({ ...exit, reason: describeEnd(exit, lastWords(log, from)) }));
    const { pid, stdin } = child;
    if (pid === undefined) throw new SvcError('internal', `No process could be started for "${program}".`);
    stdin?.on('error', () => undefined);
    return {
      identity: { pid, startTime: startTimeOf(pid) ?? '' },
      ended,
      begin: () => stdin?.end('\n'),
    };
  } finally {
    closeSync(output);
  }
}

export interface ProcessEnd extends Exit {
  /** In words that follow its name. */
  readonly reason: string;
}

function describeEnd(exit: Exit, words: string | null): string {
  return `${describeExit(exit)}${words === null ? '' : `: ${words}`}`;
}

function endOf(child: ChildProcess): Promise<Exit> {
  return new Promise((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
    child.once('error', () => resolve({ code: null, signal: null }));
  });
}

/** Watches a process of an earlier supervisor, which is no child of this process. */
export function watchProcess(identity: ProcessIdentity, log: string): Promise<Ending> {
  return new Promise((resolve) => {
    const timer = setInterval(() => {
      if (isAlive(identity)) return;
      clearInterval(timer);
      resolve({ reason: describeEnd({ code: null, signal: null }, lastWords(log, null)), portTaken: false });
    }, watchIntervalMs);
  });
}

/** A killed process is restarted within a second. */
const watchIntervalMs = 100;
