import { endOf } from '../../../contracts/bus/ends.ts';
import type { Identity, RuntimeIdentity } from '../../../contracts/bus/permissions.ts';
import { SvcError } from '../../../contracts/errors.ts';
import type { WorkspaceId } from '../../../contracts/ids.ts';
import { BoundedMap } from '../../bounded-map.ts';
import { Budget } from '../../budget.ts';
import type { Logger } from '../../log.ts';

/**
 * Limits of concurrent connections, each of which may take 128 MB in NATS (templates/nats.conf). A process has one live
 * and one dying connection.
 */
export const connectionShares = { process: 2, runtime: 16, workspace: 32 };
const connectionsMax = 8192;
/**
 * Limits of the platform's own runtimes, which may have up to 16 processes each. They share the rest that no workspace
 * can take.
 */
const platformShares = { process: 2, runtime: 64, workspace: 256 };
const platformMax = 512;
/** Delay from an admission to the next count, which reads the names of all connections. */
const countAfterMs = 10_000;
/**
 * The same delay for a sender at its limit, whose connections may have ended. It bounds how often the sender
 * reconnects.
 */
export const countSoonAfterMs = 1000;
/** Runtimes whose workspace is remembered. */
const runtimesMax = 20_000;

type Kind = keyof typeof connectionShares;

/**
 * Bounds the connections of each process, runtime and workspace. NATS keeps the list; until a backend reads it again,
 * it adds its own admissions and those that NATS reports.
 */
export class ConnectionCounts {
  readonly #logger: Logger;
  #list: () => Promise<readonly Identity[]> = async () => [];
  #budgets = newBudgets();
  /** Added since the last count began. */
  #added: RuntimeIdentity[] = [];
  /** Admissions since the last count began that NATS has not reported yet. By end. */
  readonly #expected = new Map<string, RuntimeIdentity[]>();
  readonly #workspaces = new BoundedMap<WorkspaceId>(runtimesMax);
  #timer: NodeJS.Timeout | null = null;
  #countAt = 0;
  #isCounting = false;
  #isClosed = false;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** Connections may be older than this backend. */
  async open(list: () => Promise<readonly Identity[]>): Promise<void> {
    this.#list = list;
    await this.count();
  }

  close(): void {
    this.#isClosed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  /** The workspace of a runtime that has been connected since this backend started. */
  workspaceOf(runtime: string): WorkspaceId | undefined {
    return this.#workspaces.get(runtime);
  }

  /** Counts a connection that this backend is about to admit. Throws `rate_limited` when its runtime has too many. */
  admit(identity: Identity): void {
    if (identity.kind !== 'runtime') return;
    try {
      this.#add(identity);
    } catch (thrown) {
      this.#countWithin(countSoonAfterMs);
      throw thrown instanceof SvcError ? tooMany(identity, thrown) : thrown;
    }
    const end = endOf(identity);
    this.#expected.set(end, [...(this.#expected.get(end) ?? []), identity]);
  }

  /** Counts a connection that NATS reports, unless this backend admitted it. */
  connected(identity: Identity): void {
    if (identity.kind !== 'runtime') return;
    const isExpected = this.#expected.get(endOf(identity))?.pop() !== undefined;
    if (!isExpected && this.#hasRoom(identity)) this.#add(identity);
  }

  /**
   * Replaces the sums by the list of NATS. Connections that are admitted meanwhile or not reported yet count until the
   * next list. Without an answer of NATS, the sums stay.
   */
  async count(): Promise<void> {
    if (this.#isCounting) {
      this.#countWithin(countSoonAfterMs);
      return;
    }
    this.#isCounting = true;
    this.#added = [...this.#expected.values()].flat();
    this.#expected.clear();
    try {
      const listed = (await this.#list()).filter((identity) => identity.kind === 'runtime');
      this.#budgets = newBudgets();
      for (const identity of [...listed, ...this.#added]) if (this.#hasRoom(identity)) this.#take(identity);
    } catch (thrown) {
      if (!this.#isClosed) this.#logger.warn({ err: thrown }, 'failed to count the connections of runtimes');
    } finally {
      this.#isCounting = false;
    }
  }

  /** Throws as `Budget.take` does. */
  #add(identity: RuntimeIdentity): void {
    this.#take(identity);
    this.#added.push(identity);
    this.#countWithin(this.#hasRoom(identity) ? countAfterMs : countSoonAfterMs);
  }

  #take(identity: RuntimeIdentity): void {
    this.#budgetOf(identity).take(ownerOf(identity), 1);
    const { runtime, workspace } = identity;
    if (workspace !== null) this.#workspaces.set(runtime, workspace);
  }

  #hasRoom(identity: RuntimeIdentity): boolean {
    return this.#budgetOf(identity).hasRoom(ownerOf(identity), 1);
  }

  #budgetOf({ workspace }: RuntimeIdentity): Budget<Kind> {
    return workspace === null ? this.#budgets.platform : this.#budgets.workspaces;
  }

  #countWithin(ms: number): void {
    const at = performance.now() + ms;
    if (this.#isClosed || (this.#timer !== null && this.#countAt <= at)) return;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#countAt = at;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      void this.count();
    }, ms).unref();
  }
}

function newBudgets() {
  const what = 'connections to the bus';
  const hint = 'Stop some processes, or try again in a few seconds.';
  return {
    workspaces: new Budget({ what, hint, total: connectionsMax, shares: connectionShares }),
    platform: new Budget({ what, hint, total: platformMax, shares: platformShares }),
  };
}

function ownerOf(identity: RuntimeIdentity): Readonly<Record<Kind, string>> {
  const { runtime, workspace } = identity;
  return { process: endOf(identity), runtime, workspace: workspace ?? 'platform' };
}

function tooMany({ name }: RuntimeIdentity, { code, message, hint }: SvcError): SvcError {
  const text = `The runtime "${name}" opened too many connections. ${message}`;
  return new SvcError(code, text, hint === undefined ? {} : { hint });
}
