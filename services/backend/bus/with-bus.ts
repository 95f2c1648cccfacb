import type { Env } from '../../contracts/env/check.ts';
import type { Bus } from '../../kit/bus/bus.ts';
import type { Log } from '../../kit/log.ts';

export interface WithBus {
  readonly bus: Bus;
}

export interface WithLog {
  readonly log: Log;
}

/** The checked variables that a function reads. */
export interface WithConfig<Name extends keyof Env<'backend'> = keyof Env<'backend'>> {
  readonly config: Pick<Env<'backend'>, Name>;
}
