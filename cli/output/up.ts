import type { Status } from '../../stack/lifecycle/platform-status.ts';
import { describeAddresses } from './status.ts';
import type { Terminal } from './terminal.ts';

/** The state of a platform that has just started, and its addresses. */
export function describeUp(status: Status, terminal: Terminal): string {
  return `${describeState(status, terminal)}\n${describeAddresses(status)}`;
}

export function describeState({ state }: Status, terminal: Terminal): string {
  if (state === 'degraded') return terminal.paint('yellow', 'The platform is degraded. Run svc status to see why.');
  return terminal.paint('green', 'The platform is running.');
}
