import { expect } from 'vitest';
import { planFor, portWishesOf } from '../../engines/plan-of.ts';
import type { Plan } from '../../plan/plan.ts';
import { usualPorts } from '../../settings/ports.ts';
import { definitionOf } from '../../settings/test/definition-of.ts';
import { installationIn } from '../../state/installation.ts';
import type { Part } from '../part.ts';

/** The plan of a svc.yaml with these further lines. A port that they do not name is the usual port. */
export function planOf(yaml: string, installation = installationIn('/srv/svc')): Plan {
  const definition = definitionOf(yaml);
  const ports = portWishesOf(definition).map(({ name, wanted, usual }) => [name, wanted === 'auto' ? usual : wanted]);
  return planFor(installation, definition, { ...usualPorts, ...Object.fromEntries(ports) });
}

export function partOf({ parts }: Plan, name: string): Part {
  return parts.find((part) => part.name === name) ?? expect.fail(`the plan has no ${name}`);
}
