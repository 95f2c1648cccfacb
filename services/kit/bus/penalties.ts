import { endOf } from '../../contracts/bus/ends.ts';
import type { Identity } from '../../contracts/bus/permissions.ts';
import { SvcError } from '../../contracts/errors.ts';
import type { ProcessId, RuntimeId } from '../../contracts/ids.ts';

export interface Penalty {
  readonly runtime: RuntimeId;
  readonly process: ProcessId;
  readonly refusedMs: number;
}

/** A second process of one runtime that offends within this time brings the penalty on the whole runtime. */
const repeatedWithinMs = 60_000;
/** Penalties and offences remembered; the oldest is forgotten first. */
const rememberedMax = 4096;

/** Runtimes that sent more than they may, and until when the bus refuses them. */
export class Penalties {
  /** By the end of one process, or by the id of a whole runtime. */
  readonly #until = new Map<string, number>();
  readonly #lastOffence = new Map<RuntimeId, { readonly process: ProcessId; readonly at: number }>();

  add({ runtime, process, refusedMs }: Penalty): void {
    const now = performance.now();
    const last = this.#lastOffence.get(runtime);
    // A process that was ended comes back under another id as soon as it likes, so its runtime answers for it.
    const isRepeated = last !== undefined && last.process !== process && now - last.at < repeatedWithinMs;
    remember(this.#lastOffence, runtime, { process, at: now });
    remember(this.#until, isRepeated ? runtime : `${runtime}-${process}`, now + refusedMs);
  }

  /** Throws `rate_limited` while the client has a penalty. */
  check(identity: Identity): void {
    if (identity.kind !== 'runtime') return;
    const until = Math.max(this.#until.get(endOf(identity)) ?? 0, this.#until.get(identity.runtime) ?? 0);
    const leftMs = until - performance.now();
    if (leftMs <= 0) return;
    throw new SvcError(
      'rate_limited',
      `The runtime "${identity.name}" sent more than it may; it may connect again in ${Math.ceil(leftMs / 1000)} s.`,
    );
  }
}

function remember<Key, Value>(all: Map<Key, Value>, key: Key, value: Value): void {
  all.delete(key);
  all.set(key, value);
  for (const oldest of all.keys()) {
    if (all.size <= rememberedMax) return;
    all.delete(oldest);
  }
}
