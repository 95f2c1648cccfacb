import { SvcError } from '../../../services/contracts/errors.ts';
import { partsThatDiffer, settingsOf } from '../../plan/differences.ts';
import type { Plan } from '../../plan/plan.ts';
import { formatPorts } from '../../ports/port-lease.ts';
import type { RunningPlatform } from '../../state/find-running.ts';
import type { Installation } from '../../state/installation.ts';
import type { ServiceState } from '../../state/transition.ts';
import { askSupervisor } from './control/control-client.ts';
import type { Reply } from './control/messages.ts';
import { explain } from './explain-failure.ts';

export interface Application {
  readonly installation: Installation;
  readonly running: RunningPlatform;
  readonly plan: Plan;
  readonly signal: AbortSignal;
  readonly onNotice: (message: string) => void;
  readonly onState: (name: string, state: ServiceState) => void;
}

/** The supervisor reports each change of a part. A part starts and stops within its own limits. */
const silenceSpareMs = 30_000;

/**
 * Asks the supervisor to change the running platform part by part. False where it cannot: all parts live in one process, a change concerns
 * all parts, or it does not answer.
 */
export async function applyToRunning(application: Application): Promise<boolean> {
  const { running, plan } = application;
  if (running.record?.topology !== 'distributed') return false;
  if (partsThatDiffer(running.record.settings, settingsOf(plan)) === null) return false;
  const since = Date.now();
  const reply = await ask(application);
  if (reply?.kind === 'failed') throw await explain(application.installation, reply.failure, since);
  return reply?.kind === 'applied';
}

async function ask({ installation, plan, signal, onNotice, onState }: Application): Promise<Reply | null> {
  const onProgress = (line: Reply) => {
    if (line.kind === 'service') onState(line.name, line.state);
  };
  try {
    const asked = { kind: 'apply', ports: formatPorts(plan.ports) } as const;
    const silenceMaxMs = Math.max(...plan.parts.map(({ limits }) => limits.startMaxMs)) + silenceSpareMs;
    return await askSupervisor(installation, asked, { silenceMaxMs, signal, onProgress });
  } catch (error) {
    if (!(error instanceof SvcError) || error.code === 'cancelled') throw error;
    onNotice(`${error.message} The whole platform restarts.`);
    return null;
  }
}
