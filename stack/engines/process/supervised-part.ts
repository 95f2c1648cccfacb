import { setTimeout as pause } from 'node:timers/promises';
import { inWords } from '../../../services/contracts/system-words.ts';
import type { Part } from '../../parts/part.ts';
import type { ProcessIdentity } from '../../state/process-identity.ts';
import { StartFailure, step } from './failure.ts';
import { becomesReady, type PartRunner, type RunningPart, type StopHow } from './part-runner.ts';
import { type Patience, restartDelay, shortRunsAfter } from './patience.ts';
import type { Recorder } from './recorder.ts';

export interface SharedSupervision {
  readonly runner: PartRunner;
  readonly recorder: Pick<Recorder, 'moved' | 'born' | 'broke'>;
  readonly patience: Patience;
  /** Why a part must not start, because it lost its data; null where it may. */
  readonly lossOf: (part: string) => string | null;
}

/** One part: starts it, restarts it when it ends unexpectedly, and stops it. */
export class SupervisedPart {
  readonly part: Part;
  readonly #shared: SharedSupervision;
  /** The last runs in a row that were not stable. */
  #shortRuns = 0;
  #startedAt = 0;
  #running: RunningPart | null = null;
  #supervision: { readonly ending: AbortController; readonly done: Promise<void> } | null = null;

  constructor(part: Part, shared: SharedSupervision) {
    this.part = part;
    this.#shared = shared;
  }

  /** Resolves when the part is ready or kept out, and then supervises it. Throws a `StartFailure` after it has ended the part. */
  async start(signal: AbortSignal): Promise<void> {
    if (this.#isKeptOut()) return;
    await this.#launch(signal);
    this.#supervise(null);
  }

  adopt(running: RunningPart): void {
    this.#running = running;
    this.#supervise(null);
  }

  /** Restarts a part whose start failed, as after an unexpected end. */
  keepTrying({ check, error }: StartFailure): void {
    this.#supervise(`failed to ${check}: ${error.message}`);
  }

  /** Whether the part is ready, or will be in a moment. */
  async isWell(signal: AbortSignal): Promise<boolean> {
    const running = this.#running;
    if (running === null) return false;
    const { stumbleMs: timeoutMs } = this.#shared.patience;
    return becomesReady(this.part, running, { timeoutMs, signal }).then(
      () => true,
      () => false,
    );
  }

  async stop(how: StopHow): Promise<void> {
    this.#supervision?.ending.abort();
    await this.#supervision?.done;
    this.#supervision = null;
    await this.#end(how);
    this.#shared.recorder.moved(this.part, 'stop');
  }

  #isKeptOut(): boolean {
    const { lossOf, recorder } = this.#shared;
    if (lossOf(this.part.name) === null) return false;
    recorder.moved(this.part, 'lost');
    return true;
  }

  async #launch(signal: AbortSignal): Promise<void> {
    const { part } = this;
    const { runner, recorder, patience } = this.#shared;
    const born = (process: ProcessIdentity) => recorder.born(part, process);
    recorder.moved(part, 'start');
    this.#startedAt = performance.now();
    const running = await step(part.name, 'start', () => runner.start(part, { born, signal }));
    this.#running = running;
    try {
      await step(part.name, 'get ready', () =>
        becomesReady(part, running, { timeoutMs: patience.readyMs ?? part.limits.startMaxMs, signal }),
      );
      recorder.moved(part, 'ready');
    } catch (error) {
      await this.#end('hurry');
      throw error;
    }
  }

  #supervise(begin: string | null): void {
    const ending = new AbortController();
    this.#supervision = { ending, done: this.#keepUp(begin, ending.signal) };
  }

  async #keepUp(begin: string | null, signal: AbortSignal): Promise<void> {
    const { recorder, patience } = this.#shared;
    for (let reason = begin; ; ) {
      reason ??= await this.#endingOf(signal);
      if (signal.aborted || reason === null) return;
      // A silent part still has a process.
      await this.#end('hurry');
      this.#shortRuns = shortRunsAfter(performance.now() - this.#startedAt, this.#shortRuns, patience.restarts);
      const delayMs = restartDelay(this.#shortRuns, patience.restarts);
      recorder.broke(this.part, reason);
      recorder.moved(this.part, delayMs === null ? 'given_up' : 'broke');
      if (delayMs === null) return;
      await pause(delayMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted || this.#isKeptOut()) return;
      reason = await this.#launch(signal).then(
        () => null,
        (thrown: unknown) => whyNot(thrown),
      );
    }
  }

  /** Why the part needs a restart: it ended or is silent. Null where the supervision ends first. */
  async #endingOf(signal: AbortSignal): Promise<string | null> {
    const running = this.#running;
    if (running === null) return null;
    const watching = new AbortController();
    const either = AbortSignal.any([signal, watching.signal]);
    const reason = await Promise.race([running.ended, this.#silenceOf(running, either)]);
    watching.abort();
    return reason;
  }

  async #silenceOf(running: RunningPart, signal: AbortSignal): Promise<string | null> {
    const { lookMs, silencesMax } = this.#shared.patience;
    for (let silences = 0; silences < silencesMax; ) {
      await pause(lookMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return null;
      silences = (await running.answers()) ? 0 : silences + 1;
    }
    return 'stopped answering and was ended';
  }

  async #end(how: StopHow): Promise<void> {
    const running = this.#running;
    this.#running = null;
    await running?.stop(how);
  }
}

function whyNot(thrown: unknown): string {
  if (!(thrown instanceof StartFailure)) return `could not be started: ${inWords(thrown)}`;
  return `failed to ${thrown.check}: ${thrown.error.message}`;
}
