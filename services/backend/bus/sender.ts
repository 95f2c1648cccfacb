import { tokensOf } from '../../contracts/bus/subjects.ts';
import { SvcError } from '../../contracts/errors.ts';
import { findId, findProcessId, type ProcessId, type RuntimeId } from '../../contracts/ids.ts';

export interface Sender {
  readonly runtime: RuntimeId;
  readonly process: ProcessId;
}

/** Key for data about one process. A process id alone is not enough, because each runtime chooses its own. */
export function processKey({ runtime, process }: Sender): string {
  return `${runtime}.${process}`;
}

/** The sender of a message, from the end of its subject: the bus lets only that process publish on it. */
export function senderOf(pattern: string, subject: string): Sender {
  const [runtimeText = '', processText = ''] = tokensOf(pattern, subject)?.slice(-2) ?? [];
  const sender = findSender({ runtime: runtimeText, process: processText });
  if (sender !== null) return sender;
  throw new SvcError('invalid_input', `"${subject.slice(0, 200)}" does not end in a runtime and its process.`);
}

/** The process with these two names, or null. */
export function findSender(named: { readonly runtime: string; readonly process: string }): Sender | null {
  const runtime = findId('runtime', named.runtime);
  const process = findProcessId(named.process);
  return runtime === null || process === null ? null : { runtime, process };
}
