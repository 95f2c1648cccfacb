import { tokensOf } from '../../contracts/bus/subjects.ts';
import { SvcError } from '../../contracts/errors.ts';
import { findId, findProcessId, type ProcessId, type RuntimeId } from '../../contracts/ids.ts';

export interface Sender {
  readonly runtime: RuntimeId;
  readonly process: ProcessId;
}

/** Who sent a message, by its subject, which ends in both: the bus lets nobody say what is another's. */
export function senderOf(pattern: string, subject: string): Sender {
  const [runtimeText = '', processText = ''] = tokensOf(pattern, subject)?.slice(-2) ?? [];
  const runtime = findId('runtime', runtimeText);
  const process = findProcessId(processText);
  if (runtime !== null && process !== null) return { runtime, process };
  throw new SvcError('invalid_input', `"${subject.slice(0, 200)}" does not end in a runtime and its process.`);
}
