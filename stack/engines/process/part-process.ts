import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, fstatSync, openSync } from 'node:fs';
import { SvcError } from '../../../services/contracts/errors.ts';
import { answers, readReadiness } from '../../lifecycle/readiness.ts';
import { readLines } from '../../logs/log-tail.ts';
import { parseLine, reasonIn } from '../../logs/read-logs.ts';
import { listensOn } from '../../machine/port-holder.ts';
import { portOf } from '../../machine/port-of.ts';
import type { ReadyCheck } from '../../parts/part.ts';
import { endGroup, killGroup } from '../../state/end-process.ts';
import { isAlive, type ProcessIdentity, startTimeOf } from '../../state/process-identity.ts';
import { describeExit, type Exit } from '../describe-exit.ts';
import type { RunningPart } from './part-runner.ts';
import type { Patience } from './patience.ts';
import type { ProcessPlan } from './process-plan.ts';

export interface HeldProcess {
  readonly identity: ProcessIdentity;
  /** How it ended, in words that follow its name. */
  readonly ended: Promise<string>;
  begin(): void;
}

/**
 * A shell waits for a line and then becomes the program, with the same process id. Nothing runs before the id is recorded, and the shell
 * ends if the recording process is killed.
 */
const waitThenBecome = 'read -r _ && exec "$0" "$@" </dev/null';

/** The process heads its own group, so that all its children can be ended, and outlives its parent. */
export function holdProcess({ program, args, env, cwd, log, isClosed }: ProcessPlan): HeldProcess {
  const output = openSync(log, 'a', 0o600);
  try {
    const from = fstatSync(output).size;
    const script = isClosed ? `umask 077 && ${waitThenBecome}` : waitThenBecome;
    // Not execa: the process outlives this one and writes to its log by itself.
    const child = spawn('/bin/sh', ['-c', script, program, ...args], {
      ...{ cwd, env, detached: true },
      stdio: ['pipe', output, output],
    });
    const ended = exitOf(child).then((exit) => describeEnd(exit, log, from));
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

function exitOf(child: ChildProcess): Promise<Exit> {
  return new Promise((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
    child.once('error', () => resolve({ code: null, signal: null }));
  });
}

/** Watches a process of an earlier supervisor, which is no child of this process. */
export function watchProcess(identity: ProcessIdentity, log: string): Promise<string> {
  return new Promise((resolve) => {
    const timer = setInterval(() => {
      if (isAlive(identity)) return;
      clearInterval(timer);
      resolve(describeEnd({ code: null, signal: null }, log, 0));
    }, watchIntervalMs);
  });
}

/** A killed process is restarted within a second. */
const watchIntervalMs = 100;

async function describeEnd(exit: Exit, log: string, from: number): Promise<string> {
  const errors = await lastErrors(log, from);
  return `${describeExit(exit)}${errors === null ? '' : `: ${errors}`}`;
}

/** Enough for a message with its hint. The log has the rest. */
const errorsMaxBytes = 16 * 1024;
const linesMax = 3;
const lengthMax = 600;

/** The last errors in a log after its first `from` bytes, or null. */
export async function lastErrors(log: string, from: number): Promise<string | null> {
  const { lines } = await readLines(log, from, errorsMaxBytes);
  const errors = lines
    .filter((text) => !isTrace(text))
    .map((text) => parseLine('', text))
    .filter(({ level }) => level === 'error')
    .slice(-linesMax)
    .map((line) => [line.message, reasonIn(line)] as const)
    .map(([message, reason]) => (reason === null ? message : `${message} (${reason})`));
  return errors.length === 0 ? null : errors.join(' · ').slice(0, lengthMax);
}

/** The stack of a crash in Node does not help an operator. */
function isTrace(text: string): boolean {
  return /^(\s|file:\/\/|node:|\^|Node\.js v)/.test(text);
}

/** A part in a process of its own, started by this supervisor or by an earlier one. */
export function runningProcess(
  process: ProcessIdentity,
  { ready, ended }: { readonly ready: ReadyCheck; readonly ended: Promise<string> },
  patience: Patience,
): RunningPart {
  const port = portOf(ready.url);
  return {
    ended,
    async readiness(signal) {
      const readiness = await readReadiness(ready, signal);
      if (!readiness.ready || listensOn(process.pid, port) !== false) return readiness;
      return { ready: false, missing: `port ${port} belongs to another program` };
    },
    answers: () => answers(ready),
    async stop(how) {
      await endGroup(process, how === 'drain' ? patience.drainMs : patience.hurryMs);
      // Children of the part may outlive it.
      killGroup(process);
    },
  };
}
