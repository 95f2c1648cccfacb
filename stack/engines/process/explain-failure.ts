import { SvcError } from '../../../services/contracts/errors.ts';
import { describeLine, readLogs } from '../../logs/read-logs.ts';
import { findFullDisk } from '../../state/free-space.ts';
import type { Installation } from '../../state/installation.ts';
import { lockHolder } from '../../state/lock.ts';
import { type Failure, readFailure } from '../../state/platform-record.ts';
import type { ProcessIdentity } from '../../state/process-identity.ts';
import { LostPort } from '../lost-port.ts';

export interface EndedProcess {
  readonly pid: number;
  /** When its start began. Older log lines belong to another process. */
  readonly since: number;
}

/** Why the platform of this process ended: part, check, cause, last log lines and repair. */
export async function explainFailure(installation: Installation, { pid, since }: EndedProcess): Promise<Error> {
  const failure = readFailure(installation);
  return failure?.pid === pid ? explain(installation, failure, since) : explainSilence(installation, pid);
}

async function explainSilence(installation: Installation, pid: number): Promise<Error> {
  const holder = lockHolder(installation, 'platform');
  if (holder !== null && holder.pid !== pid) return heldBy(holder);
  // A full disk keeps the platform from recording why it ended.
  const full = findFullDisk(installation);
  if (full !== null) return full;
  const lines = await lastLines(installation, 'platform', null);
  return new SvcError('internal', `The platform (pid ${pid}) ended without saying why.${lines}`, {
    hint: 'Read its log: svc logs platform',
  });
}

/** The failure that the platform recorded, with its log lines since then. */
export async function explain(installation: Installation, failure: Failure, since: number): Promise<Error> {
  const error = new SvcError(
    failure.code,
    `${sentenceOf(failure)}${await lastLines(installation, failure.service, since)}`,
    {
      hint: failure.hint ?? `Read its log: svc logs ${failure.service}`,
    },
  );
  return failure.portTaken ? new LostPort(error) : error;
}

function sentenceOf({ service, check, message }: Failure): string {
  const who = service === 'platform' ? 'The platform' : service;
  return `${who} failed to ${check}: ${message}`;
}

function heldBy({ pid }: ProcessIdentity): SvcError {
  return new SvcError('conflict', `Another platform (pid ${pid}) started in this installation meanwhile.`, {
    hint: 'See how it is: svc status',
  });
}

const linesMax = 8;

async function lastLines(installation: Installation, service: string, since: number | null): Promise<string> {
  const lines: string[] = [];
  try {
    const signal = new AbortController().signal;
    const filter = { services: [service], since, level: 'trace', request: null } as const;
    for await (const line of readLogs({ installation, ...filter, lines: linesMax, follow: false, signal })) {
      lines.push(`  ${describeLine(line)}`);
    }
  } catch {
    // The part failed before it logged a line.
  }
  return lines.length === 0 ? '' : `\nLast lines of logs/${service}.log:\n${lines.join('\n')}`;
}
