import { SvcError } from '../../../services/contracts/errors.ts';
import { partsThatDiffer, settingsOf } from '../../plan/differences.ts';
import type { Plan } from '../../plan/plan.ts';
import { parsePorts } from '../../ports/port-lease.ts';
import { readDefinition } from '../../settings/check.ts';
import { type Answer, openControl } from './control/control-server.ts';
import type { Reply } from './control/messages.ts';
import { failureOf } from './failure.ts';
import type { Platform } from './platform.ts';
import type { Recorder } from './recorder.ts';
import { reportStates } from './report-states.ts';
import { planOnThisMachine } from './site.ts';
import { StartFailure, step } from './start-failure.ts';

export interface Controlled {
  readonly plan: Plan;
  readonly platform: Platform;
  readonly recorder: Recorder;
  /** Stops the platform. */
  readonly signal: AbortSignal;
}

/** Changes a platform while it runs. */
export interface PlatformControl {
  /** Passes on the start of the platform. Requests wait for it. */
  started(start: Promise<void>): Promise<void>;
  /** Resolves when no client can ask any more and the last request is done. */
  close(): Promise<void>;
}

/** A platform in one process can only be restarted. A platform of processes is changed over a socket, one request after the other. */
export async function openControlOf(controlled: Controlled): Promise<PlatformControl> {
  const { definition, installation } = controlled.plan;
  if (definition.topology === 'embedded') return { started: (start) => start, close: async () => undefined };
  const control = new ProcessControl(controlled);
  const server = await openControl(installation, control.answer);
  return {
    started: (start) => control.after(start),
    close: async () => {
      await server.close();
      await control.idle();
    },
  };
}

class ProcessControl {
  readonly #controlled: Controlled;
  /** The last request. Requests run one after the other, so that each finds a settled platform. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(controlled: Controlled) {
    this.#controlled = controlled;
  }

  after(start: Promise<void>): Promise<void> {
    this.#last = start.catch(() => undefined);
    return start;
  }

  async idle(): Promise<void> {
    await this.#last;
  }

  readonly answer: Answer = async (asked, reply) => {
    const { recorder } = this.#controlled;
    if (asked.kind === 'status') return reply({ kind: 'record', record: recorder.record });
    const own = this.#last.then(() => this.#apply(asked.ports, reply));
    this.#last = own;
    reply(await own);
  };

  async #apply(ports: string, reply: (line: Reply) => void): Promise<Reply> {
    const { recorder } = this.#controlled;
    const report = reportStates((name, state) => reply({ kind: 'service', name, state }), recorder.record.services);
    const stopReporting = recorder.listen(({ services }) => void report(services));
    try {
      await step('platform', 'apply svc.yaml', () => this.#takeUp(ports));
      return { kind: 'applied' };
    } catch (thrown) {
      const failure = thrown instanceof StartFailure ? thrown : new StartFailure('platform', 'apply svc.yaml', thrown);
      return { kind: 'failed', failure: failureOf(failure) };
    } finally {
      stopReporting();
    }
  }

  async #takeUp(ports: string): Promise<void> {
    const { plan, platform, recorder, signal } = this.#controlled;
    const { installation } = plan;
    const next = planOnThisMachine(installation, readDefinition(installation.definitionFile), parsePorts(ports));
    const differ = partsThatDiffer(recorder.record.settings, settingsOf(next));
    // The command compared the settings before it asked. svc.yaml has changed since.
    if (differ === null)
      throw new SvcError('conflict', 'svc.yaml changed while the platform took it over.', { hint: 'svc up' });
    await platform.apply(next, differ, signal);
  }
}
