import type { Definition } from '../settings/definition.ts';

/** The bus without TLS and monitoring. While it runs alone it listens on loopback only. */
export function closedBus(definition: Definition): Definition {
  return { ...definition, bus: { ...definition.bus, public: undefined, httpPort: undefined } };
}
