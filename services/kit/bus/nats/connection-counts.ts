import type { Identity } from '../../../contracts/bus/permissions.ts';
import { SvcError } from '../../../contracts/errors.ts';
import type { RuntimeId } from '../../../contracts/ids.ts';
import type { Logger } from '../../log.ts';

/** Connections of one runtime. The ones that it opened since the last count are added, so this bounds how often it reconnects too. */
export const connectionsMax = 256;
/** From an admission to the next count. A count reads the names of all connections. */
export const countAfterMs = 10_000;

type CountByRuntime = ReadonlyMap<RuntimeId, number>;

/** Bounds the connections of each runtime. NATS has the list, and a backend adds what it admits until it reads the list again. */
export class ConnectionCounts {
  readonly #logger: Logger;
  #list: () => Promise<readonly Identity[]> = async () => [];
  #counted: CountByRuntime = new Map();
  /** Admitted here since the last count began. */
  #opened = new Map<RuntimeId, number>();
  #timer: NodeJS.Timeout | null = null;
  #isClosed = false;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** Connections may have been there before this backend. */
  open(list: () => Promise<readonly Identity[]>): void {
    this.#list = list;
    void this.#recount();
  }

  close(): void {
    this.#isClosed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  /** Counts one more connection. Throws `rate_limited` where the runtime has too many. */
  add(identity: Identity): void {
    if (identity.kind !== 'runtime') return;
    const { runtime, name } = identity;
    this.#timer ??= setTimeout(() => void this.#recount(), countAfterMs).unref();
    if (this.#of(runtime) >= connectionsMax) {
      throw new SvcError(
        'rate_limited',
        `The runtime "${name}" opened too many connections; it may have ${connectionsMax} at once.`,
        { hint: 'Stop some of its processes, or wait ten seconds.' },
      );
    }
    this.#opened.set(runtime, (this.#opened.get(runtime) ?? 0) + 1);
  }

  #of(runtime: RuntimeId): number {
    return (this.#counted.get(runtime) ?? 0) + (this.#opened.get(runtime) ?? 0);
  }

  /** What is admitted while NATS lists its connections may be missing in the list. It counts until the next one. */
  async #recount(): Promise<void> {
    this.#timer = null;
    const runtimes = [...this.#counted.keys(), ...this.#opened.keys()];
    this.#counted = new Map(runtimes.map((runtime) => [runtime, this.#of(runtime)]));
    this.#opened = new Map();
    try {
      this.#counted = countByRuntime(await this.#list());
    } catch (thrown) {
      if (!this.#isClosed) this.#logger.warn({ err: thrown }, 'could not count the connections of runtimes');
    }
  }
}

function countByRuntime(identities: readonly Identity[]): CountByRuntime {
  const counts = new Map<RuntimeId, number>();
  for (const identity of identities) {
    if (identity.kind === 'runtime') counts.set(identity.runtime, (counts.get(identity.runtime) ?? 0) + 1);
  }
  return counts;
}
