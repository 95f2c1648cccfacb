import { inWords } from '../../../services/contracts/system-words.ts';
import { provisionGraph } from '../../graph/provision-graph.ts';
import type { PlatformLogs } from '../../logs/platform-logs.ts';
import { portOf } from '../../machine/port-of.ts';
import { graphStartMaxMs, graphUrlOf } from '../../parts/dgraph-alpha.ts';
import { listensAt, type Part } from '../../parts/part.ts';
import { inStartOrder } from '../../parts/parts.ts';
import { describeNodeLoss } from '../../place/kept-data.ts';
import type { Plan } from '../../plan/plan.ts';
import { startInOrder } from '../../plan/start-in-order.ts';
import { registerAt } from '../register-identities.ts';
import type { PartRunner, StopHow } from './part-runner.ts';
import type { Patience } from './patience.ts';
import { StartFailure, step } from './start-failure.ts';
import { type PartWatcher, type SharedSupervision, SupervisedPart } from './supervised-part.ts';

/** Also learns which parts a new plan has. */
export interface PlanWatcher extends PartWatcher {
  replan(plan: Plan): void;
}

export interface PlatformOptions {
  readonly plan: Plan;
  readonly runner: PartRunner;
  readonly logs: PlatformLogs;
  readonly watcher: PlanWatcher;
  readonly patience: Patience;
}

/** All parts of a platform, with either runner. */
export class Platform {
  readonly #surroundings: SharedSupervision;
  readonly #logs: PlatformLogs;
  readonly #watcher: PlanWatcher;
  readonly #parts = new Map<string, SupervisedPart>();
  #plan: Plan;

  constructor({ plan, runner, logs, watcher, patience }: PlatformOptions) {
    this.#plan = plan;
    this.#surroundings = { runner, watcher, patience, lossOf: (part) => describeNodeLoss(plan.installation, part) };
    this.#logs = logs;
    this.#watcher = watcher;
  }

  /** Starts each part once the parts that it needs are healthy. Throws a `StartFailure` after it has stopped all parts. */
  async start(signal: AbortSignal): Promise<void> {
    try {
      const parts = inStartOrder(this.#plan.parts).map((part) => ({ part }));
      await startInOrder(parts, ({ part }) => this.#startOne(part, signal));
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  /** Changes the platform to a plan: restarts parts that differ or are not well, one after the other. Throws a `StartFailure`. */
  async apply(plan: Plan, differ: ReadonlySet<string>, signal: AbortSignal): Promise<void> {
    for (const [name, { part }] of this.#parts) if (isInTheWay(part, plan.parts)) await this.#stopOne(name, 'drain');
    this.#plan = plan;
    this.#watcher.replan(plan);
    for (const part of inStartOrder(plan.parts)) await this.#applyTo(part, differ.has(part.name), signal);
  }

  async #applyTo(part: Part, differs: boolean, signal: AbortSignal): Promise<void> {
    const present = this.#parts.get(part.name);
    const isWell = (await present?.isWell(signal)) ?? false;
    if (present !== undefined && isWell && !differs) {
      present.part = part;
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

  /** Stops parts that need others before these others. Independent parts stop together. */
  async stop(): Promise<void> {
    const stopped = new Map<string, Promise<void>>();
    const parts = inStartOrder([...this.#parts.values()].map(({ part }) => part)).toReversed();
    for (const { name } of parts) {
      const users = parts.filter(({ after }) => after.includes(name));
      const free = Promise.all(users.map((user) => stopped.get(user.name)));
      const ended = free.then(() => this.#stopOne(name, 'hurry'));
      stopped.set(name, ended);
    }
    await Promise.all(stopped.values());
    await this.#surroundings.runner.close();
  }

  async #startOne(part: Part, signal: AbortSignal): Promise<void> {
    const supervised = new SupervisedPart(part, this.#surroundings);
    this.#parts.set(part.name, supervised);
    await supervised.start(signal);
    await this.#settle(part, signal);
  }

  /** Tells a ready part what it must know before a part that needs it starts. Idempotent. */
  async #settle({ name, url }: Part, signal: AbortSignal): Promise<void> {
    // One process of a service hands the setting to the others.
    if (name === 'backend')
      await step('platform', 'register its identities', () => registerAt(url, this.#plan, signal));
    if (name === this.#dataNodes()[0]?.name) await this.#provisionGraph(name, signal);
  }

  /** The data nodes of Dgraph that are not lost. */
  #dataNodes(): readonly Part[] {
    const { lossOf } = this.#surroundings;
    return this.#plan.parts.filter((part) => part.service === 'dgraph-alpha' && lossOf(part.name) === null);
  }

  async #provisionGraph(name: string, signal: AbortSignal): Promise<void> {
    const { definition, secrets, site } = this.#plan;
    const urls = this.#dataNodes().map((node) => graphUrlOf(node.name, site));
    const caPath = secrets.graphNodeCertificate;
    const timeoutMs = graphStartMaxMs(definition);
    await step(name, 'be provisioned', () => provisionGraph({ urls, caPath, secrets, timeoutMs, signal }));
  }

  /** A part that fails to stop must not keep the others running. */
  async #stopOne(name: string, how: StopHow): Promise<void> {
    await this.#parts
      .get(name)
      ?.stop(how)
      .catch((error: unknown) => {
        this.#logs.note('error', 'a part did not stop', { part: name, reason: inWords(error) });
      });
    this.#parts.delete(name);
  }
}

/** A part that the plan no longer has, or one that has a port of another planned part. */
function isInTheWay(part: Part, wanted: readonly Part[]): boolean {
  const others = wanted.filter(({ name }) => name !== part.name);
  const taken = new Set(others.flatMap(portsOf));
  return others.length === wanted.length || portsOf(part).some((port) => taken.has(port));
}

function portsOf(part: Part): readonly number[] {
  return listensAt(part).map(portOf);
}
