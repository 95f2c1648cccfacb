import type { Progress } from '../../stack/lifecycle/progress.ts';
import type { Terminal } from './terminal.ts';

/** What every command tells alike that starts or stops a platform. */
export type CommonProgress = Extract<Progress, { kind: 'notice' | 'service' }>;

export function tellCommon(progress: CommonProgress, terminal: Terminal): void {
  if (progress.kind === 'notice') terminal.warn(progress.message);
  else terminal.talk(`${terminal.paint('grey', '·')} ${progress.name} ${progress.state}`);
}
