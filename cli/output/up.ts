import type { Status } from '../../stack/lifecycle/platform-status.ts';
import { describeMail } from './mail.ts';
import { reasonsOf } from './reason.ts';
import { describeAddresses, tellingOf } from './status.ts';
import { details } from './table.ts';
import type { Terminal } from './terminal.ts';

/** More of them would push the addresses off the screen. */
const unwellShownMax = 10;

/** A platform that has just started: its state, its addresses, and what is not well, with the reason. */
export function describeUp(status: Status, terminal: Terminal): string {
  const unwell = unwellIn(status);
  const left = unwell.length - unwellShownMax;
  const told = unwell.length === 0 ? [] : ['', 'Not well:', details(unwell.slice(0, unwellShownMax), terminal)];
  if (left > 0) told.push(`And ${left} more. Show all: svc status`);
  return [describeState(status, terminal), describeAddresses(status), ...told].join('\n');
}

export function describeState({ state }: Status, { paint }: Pick<Terminal, 'paint'>): string {
  if (state === 'degraded') return paint('yellow', 'The platform runs, and is degraded.');
  return paint('green', 'The platform is running.');
}

function unwellIn({
  services,
  mcpServers,
  runtimes,
  fullDisk,
  contentProblem,
  mail,
}: Status): readonly { name: string; text: string }[] {
  return [
    ...(fullDisk === null ? [] : [{ name: 'disk', text: fullDisk }]),
    ...(contentProblem === null ? [] : [{ name: 'backend', text: contentProblem }]),
    ...describeMail(mail),
    ...services.filter(({ health }) => health !== 'green').flatMap(tellingOf),
    ...reasonsOf(mcpServers.filter(({ status }) => status === 'Error')),
    ...runtimes.flatMap(({ name, available }) =>
      available ? [] : [{ name: `runtime ${name}`, text: 'It is not connected.' }],
    ),
  ];
}
