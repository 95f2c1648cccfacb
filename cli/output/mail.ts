import type { Status } from '../../stack/lifecycle/platform-status.ts';
import { span } from './times-and-sizes.ts';

/** Mail is usually sent within seconds. */
const waitsLongMs = 5 * 60_000;

/** What is wrong with outgoing mail, for a list of details; empty while mail is well. */
export function describeMail(mail: Status['mail'], now = Date.now()): readonly { name: string; text: string }[] {
  if (mail === null) return [];
  const { waiting, failed, unsure, oldestAt, lastError } = mail;
  const waitedMs = oldestAt === null ? 0 : Math.max(0, now - oldestAt);
  // Without mail that was lost, the error is of the waiting mail.
  const isRefused = waiting > 0 && lastError !== null && failed + unsure === 0;
  const told = [
    ...(isRefused || waitedMs > waitsLongMs
      ? [`${counted(waiting, 'waits', 'wait')} to be sent, the oldest for ${span(waitedMs)}.`]
      : []),
    ...(failed > 0 ? [`${counted(failed, 'was', 'were')} given up.`] : []),
    ...(unsure > 0
      ? [`${counted(unsure, 'may have been sent and is', 'may have been sent and are')} not repeated.`]
      : []),
  ];
  if (told.length === 0) return [];
  const why = lastError === null ? [] : [`The last error: ${lastError}.`];
  return [{ name: 'mail', text: [...told, ...why].join(' ') }];
}

function counted(count: number, one: string, several: string): string {
  return count === 1 ? `1 mail ${one}` : `${count} mails ${several}`;
}
