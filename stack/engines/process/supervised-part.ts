import { setTimeout as pause } from 'node:timers/promises';
import { SvcError } from '../../../services/contracts/errors.ts';
import { waitUntilReady } from '../../lifecycle/readiness.ts';
import type { ServiceEvent } from '../../lifecycle/transition.ts';
import type { Part } from '../../parts.ts';
import type { ProcessIdentity } from '../../state/process-identity.ts';
import type { PartRunner, RunningPart } from './part-runner.ts';
import { nextStep, runsSeen } from './restart-policy.ts';
import { StartFailure, step } from './start-failure.ts';

/** Who is told what becomes of a part. */
export interface PartWatcher {
  /** Throws where a start could not be told, which then fails; never for a stop. */
  moved(part: string, event: ServiceEvent): void;
  born(part: string, process: ProcessIdentity): void;
  /** It ended without being asked, or did not get ready; `reason` follows its name. */
  broke(part: string, reason: string): void;
}

/** Longest time that a healthy part takes until it is ready, many times over. */
const readyTimeoutMs = 30_000;

/** One part: started, started again when it ends without being asked, and stopped. */
export class SupervisedPart {
  readonly part: Part;
  readonly #runner: PartRunner;
  readonly #watcher: PartWatcher;
  /** How long each of the last runs lasted, the youngest last. */
  #livedMs: number[] = [];
  #startedAt = 0;
  #running: RunningPart | null = null;
  #supervision: { readonly ending: AbortController; readonly done: Promise<void> } | null = null;

  constructor(part: Part, runner: PartRunner, watcher: PartWatcher) {
    this.part = part;
    this.#runner = runner;
    this.#watcher = watcher;
  }

  /** Resolves when it is ready, and watches over it from then on. Throws a `StartFailure`; then nothing of it runs. */
  async start(signal: AbortSignal): Promise<void> {
    await this.#launch(signal);
    this.#supervise(null);
  }

  /** After a start that failed: tries on as after an end that nobody asked for. */
  keepTrying({ check, error }: StartFailure): void {
    this.#supervise(`failed to ${check}: ${error.message}`);
  }

  /** Whether it is ready now, or within that time. */
  async isWell(timeoutMs: number, signal: AbortSignal): Promise<boolean> {
    const running = this.#running;
    if (running === null) return false;
    const ended = running.ended.then(() => false);
    const ready = waitUntilReady(running.readyUrl, { timeoutMs, signal }).then(
      () => true,
      () => false,
    );
    return Promise.race([ready, ended]);
  }

  async stop(): Promise<void> {
    this.#supervision?.ending.abort();
    await this.#supervision?.done;
    this.#supervision = null;
    await this.#end();
    this.#watcher.moved(this.part.name, 'stop');
  }

  async #launch(signal: AbortSignal): Promise<void> {
    const { name } = this.part;
    const born = (process: ProcessIdentity) => this.#watcher.born(name, process);
    this.#watcher.moved(name, 'start');
    this.#startedAt = performance.now();
    const running = await step(name, 'start', () => this.#runner.start(this.part, { born }));
    this.#running = running;
    try {
      await step(name, 'get ready', () => becomesReady(running, signal));
      this.#watcher.moved(name, 'ready');
    } catch (error) {
      await this.#end();
      throw error;
    }
  }

  #supervise(begin: string | null): void {
    const ending = new AbortController();
    this.#supervision = { ending, done: this.#keepUp(begin, ending.signal) };
  }

  async #keepUp(begin: string | null, signal: AbortSignal): Promise<void> {
    for (let reason = begin; ; ) {
      reason ??= await this.#endingOf(signal);
      if (signal.aborted || reason === null) return;
      const { name } = this.part;
      this.#running = null;
      this.#livedMs = [...this.#livedMs, performance.now() - this.#startedAt].slice(-runsSeen);
      const next = nextStep(this.#livedMs);
      this.#watcher.broke(name, reason);
      this.#watcher.moved(name, next.kind === 'give_up' ? 'given_up' : 'broke');
      if (next.kind === 'give_up') return;
      await pause(next.delayMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      reason = await this.#launch(signal).then(
        () => null,
        (thrown: unknown) => whyNot(thrown),
      );
    }
  }

  /** Null where the supervision ends first. */
  #endingOf(signal: AbortSignal): Promise<string | null> {
    const stopped = Promise.withResolvers<null>();
    const stop = () => stopped.resolve(null);
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    const ended: Promise<string | null> = this.#running?.ended ?? stopped.promise;
    return Promise.race([ended, stopped.promise]).finally(() => signal.removeEventListener('abort', stop));
  }

  async #end(): Promise<void> {
    const running = this.#running;
    this.#running = null;
    await running?.stop();
  }
}

async function becomesReady(running: RunningPart, signal: AbortSignal): Promise<void> {
  const looking = new AbortController();
  const ended = running.ended.then((reason) => {
    throw new SvcError('unavailable', `it ${reason}`);
  });
  try {
    const either = AbortSignal.any([signal, looking.signal]);
    await Promise.race([waitUntilReady(running.readyUrl, { timeoutMs: readyTimeoutMs, signal: either }), ended]);
  } finally {
    looking.abort();
  }
}

function whyNot(thrown: unknown): string {
  if (!(thrown instanceof StartFailure)) return `could not be started: ${String(thrown)}`;
  return `failed to ${thrown.check}: ${thrown.error.message}`;
}
