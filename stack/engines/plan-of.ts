import { type Plan, planAt } from '../plan/plan.ts';
import { leasedPorts } from '../ports/port-lease.ts';
import { readDefinition } from '../settings/check.ts';
import type { Definition } from '../settings/definition.ts';
import { type Ports, type PortWish, wishesOf } from '../settings/ports.ts';
import type { Installation } from '../state/installation.ts';
import { engineFor } from './engine-of.ts';

/** The ports of this machine that an installation listens on. */
export function portWishesOf(definition: Definition): readonly PortWish[] {
  return wishesOf(definition).filter(engineFor(definition).takesPort);
}

export function readPlan(installation: Installation): Plan {
  return planOf(installation, readDefinition(installation.definitionFile));
}

/** The plan that another definition makes with the leased ports. */
export function planOf(installation: Installation, definition: Definition): Plan {
  return planFor(installation, definition, leasedPorts(installation, portWishesOf(definition)));
}

export function planFor(installation: Installation, definition: Definition, ports: Ports): Plan {
  const site = engineFor(definition).site(installation, ports, wishesOf(definition));
  return planAt({ installation, definition, ports, site });
}
