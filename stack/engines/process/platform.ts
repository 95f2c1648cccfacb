import { inWords } from '../../../services/contracts/system-words.ts';
import { provisionGraph } from '../../graph/provision-graph.ts';
import type { PlatformLogs } from '../../logs/platform-logs.ts';
import { graphStartMaxMs, graphUrlOf } from '../../parts/dgraph.ts';
import type { Part } from '../../parts/part.ts';
import { inStartOrder } from '../../parts/parts.ts';
import type { Plan } from '../../plan/plan.ts';
import { startInOrder } from '../../plan/start-in-order.ts';
import { endInOrder } from '../../state/left-processes.ts';
import { registerIdentities } from '../register-identities.ts';
import { StartFailure, step } from './failure.ts';
import type { Recorder } from './recorder.ts';
import { type SharedSupervision, SupervisedPart } from './supervised-part.ts';
import type { LeftPart } from './take-over.ts';

export interface PlatformOptions extends SharedSupervision {
  readonly plan: Plan;
  readonly logs: PlatformLogs;
  readonly recorder: Recorder;
}

export class Platform {
  readonly #options: PlatformOptions;
  readonly #parts = new Map<string, SupervisedPart>();

  constructor(options: PlatformOptions) {
    this.#options = options;
  }

  /** Starts each part once the parts that it needs are healthy. Throws a `StartFailure`. */
  async start(signal: AbortSignal): Promise<void> {
    const parts = inStartOrder(this.#options.plan.parts).map((part) => ({ part }));
    await startInOrder(parts, ({ part }) => this.#startOne(part, signal));
  }

  /**
   * Supervises the parts that an earlier supervisor left. Restarts those that differ or are not well, one after the other. Throws a
   * `StartFailure` for the first that fails: it is tried again, and the others stay as they are.
   */
  async takeOver(left: readonly LeftPart[], signal: AbortSignal): Promise<void> {
    const inTheWay = left.filter(({ next }) => next === 'gives_way');
    const kept = new Map(left.filter((one) => !inTheWay.includes(one)).map((one) => [one.name, one]));
    for (const part of this.#options.plan.parts) {
      const found = kept.get(part.name);
      if (found !== undefined) this.#supervised(part).adopt(found.running);
    }
    for (const { name, running } of inTheWay) {
      await this.#quietly(name, running.stop('drain'));
      this.#options.recorder.ended(name);
    }
    for (const part of await this.#orderOf(left, signal))
      await this.#renew(part, kept.get(part.name)?.next === 'stays', signal);
  }

  /** Where parts only restart, those that others need come last: the calls that run end before the bus does. */
  async #orderOf(left: readonly LeftPart[], signal: AbortSignal): Promise<readonly Part[]> {
    const parts = inStartOrder(this.#options.plan.parts);
    const isRestart = left.some(({ next }) => next === 'restarts');
    if (!isRestart || left.some(({ next }) => next !== 'stays' && next !== 'restarts')) return parts;
    const areWell = await Promise.all(parts.map(({ name }) => this.#parts.get(name)?.isWell(signal) ?? false));
    return areWell.includes(false) ? parts : parts.toReversed();
  }

  async #renew(part: Part, stays: boolean, signal: AbortSignal): Promise<void> {
    const present = this.#parts.get(part.name);
    const isWell = (await present?.isWell(signal)) ?? false;
    if (isWell && stays) {
      this.#options.recorder.moved(part, 'ready');
      // Identities in svc.yaml and passwords of the graph are no variables of a part, so a change of them shows nowhere else.
      await this.#settle(part, signal);
      return;
    }
    // A part that does not answer has no calls to finish.
    await present?.stop(isWell ? 'drain' : 'hurry');
    await this.#startOne(part, signal).catch((thrown: unknown) => {
      const isOwn = thrown instanceof StartFailure && thrown.part === part.name;
      if (isOwn) this.#parts.get(part.name)?.keepTrying(thrown);
      throw thrown;
    });
  }

  async stop(): Promise<void> {
    const stop = (one: SupervisedPart) => this.#quietly(one.part.name, one.stop('hurry'));
    await endInOrder([...this.#parts.values()], ({ part }) => part.name, stop);
    await this.#options.runner.close();
  }

  async #startOne(part: Part, signal: AbortSignal): Promise<void> {
    await this.#supervised(part).start(signal);
    await this.#settle(part, signal);
  }

  #supervised(part: Part): SupervisedPart {
    const supervised = new SupervisedPart(part, this.#options);
    this.#parts.set(part.name, supervised);
    return supervised;
  }

  /** Tells a ready part what it must know before a part that needs it starts. Idempotent. */
  async #settle({ name, url }: Part, signal: AbortSignal): Promise<void> {
    const { plan, lossOf } = this.#options;
    // One process of a service hands the setting to the others.
    if (name === 'backend')
      await step('platform', 'register its identities', () => registerIdentities(url, plan, signal));
    const nodes = plan.parts.filter((part) => part.service === 'dgraph-alpha' && lossOf(part.name) === null);
    if (name !== nodes[0]?.name) return;
    const { definition, secrets, site } = plan;
    const urls = nodes.map((node) => graphUrlOf(node.name, site));
    const caPath = secrets.graphNodeCertificate;
    const timeoutMs = graphStartMaxMs(definition);
    await step(name, 'be provisioned', () => provisionGraph({ urls, caPath, secrets, timeoutMs, signal }));
  }

  /** A part that fails to stop must not keep the others running. */
  async #quietly(part: string, stop: Promise<void>): Promise<void> {
    await stop.catch((error: unknown) => {
      this.#options.logs.note('error', 'a part did not stop', { part, reason: inWords(error) });
    });
  }
}
