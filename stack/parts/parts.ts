import type { ServiceName } from '../../services/contracts/env/variables.ts';
import type { Definition } from '../settings/definition.ts';
import { backend } from './backend.ts';
import { caddy } from './caddy.ts';
import { dgraphAlpha, dgraphZero } from './dgraph.ts';
import { frontend } from './frontend.ts';
import { nats } from './nats.ts';
import type { Part } from './part.ts';
import type { PortWish } from './port-wish.ts';
import { remoteMcp } from './remote-mcp.ts';
import { runtime } from './runtime.ts';
import type { PartKind, Setup } from './setup.ts';

/** Every kind of part, in the order in which parts are shown. */
const kinds: readonly PartKind[] = [backend, remoteMcp, runtime, frontend, nats, dgraphZero, dgraphAlpha, caddy];

/** All parts of an installation. */
export function partsOf(setup: Setup): readonly Part[] {
  return kinds.flatMap(({ parts }) => parts(setup));
}

/** Every port that parts of this definition listen on. */
export function wishesOf(definition: Definition): readonly PortWish[] {
  return kinds.flatMap(({ wishes }) => wishes(definition));
}

/** The same parts, each after its dependencies. */
export function inStartOrder(parts: readonly Part[]): readonly Part[] {
  const ordered = new Set<Part>();
  const add = (part: Part) => {
    for (const other of parts) if (part.after.includes(other.name)) add(other);
    ordered.add(part);
  };
  for (const part of parts) add(part);
  return [...ordered];
}

/** The first process of each service. */
export function servicesOf(parts: readonly Part[]): readonly { readonly service: ServiceName; readonly part: Part }[] {
  const services = new Map<ServiceName, Part>();
  for (const part of parts) {
    if (part.program.kind === 'service' && !services.has(part.program.service)) {
      services.set(part.program.service, part);
    }
  }
  return [...services].map(([service, part]) => ({ service, part }));
}

/** The first process of a service. */
export function firstOf(service: ServiceName, parts: readonly Part[]): Part {
  const found = parts.find((part) => part.service === service);
  if (found === undefined) throw new Error(`the plan has no ${service}`);
  return found;
}
