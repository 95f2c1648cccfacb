import type { Identity } from '../../contracts/bus/permissions.ts';
import { SvcError } from '../../contracts/errors.ts';
import type { RuntimeId } from '../../contracts/ids.ts';
import { BoundedMap } from '../bounded-map.ts';

export interface Penalty {
  readonly runtime: RuntimeId;
  readonly refusedMs: number;
}

/** Penalties remembered; the oldest is forgotten first. */
const rememberedMax = 4096;

/** Runtimes that exceeded their allowance, and until when the bus refuses them. */
export class Penalties {
  readonly #until = new BoundedMap<number>(rememberedMax);

  add({ runtime, refusedMs }: Penalty): void {
    this.#until.set(runtime, performance.now() + refusedMs);
  }

  /** How long the runtime is still refused. */
  leftMs(runtime: RuntimeId): number {
    return Math.max(0, (this.#until.get(runtime) ?? 0) - performance.now());
  }

  /** Throws `rate_limited` while the client has a penalty. */
  check(identity: Identity): void {
    if (identity.kind !== 'runtime') return;
    const leftMs = this.leftMs(identity.runtime);
    if (leftMs === 0) return;
    throw new SvcError(
      'rate_limited',
      `The runtime "${identity.name}" sent more than it may; it may connect again in ${Math.ceil(leftMs / 1000)} s.`,
    );
  }
}
