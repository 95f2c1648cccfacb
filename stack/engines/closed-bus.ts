import type { Definition } from '../settings/definition.ts';

/** The same bus without TLS and monitoring: while it runs alone, only this machine reaches it, on loopback. */
export function closedBus(definition: Definition): Definition {
  return { ...definition, bus: { ...definition.bus, public: undefined, httpPort: undefined } };
}
