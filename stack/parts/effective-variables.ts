import { placeOf } from '../settings/settings.ts';
import type { Part } from './part.ts';
import { servicesOf } from './parts.ts';

export interface EffectiveVariable {
  readonly service: string;
  readonly name: string;
  /** Never a secret: those are given as files. */
  readonly value: string;
  /** A setting of svc.yaml, a file in secrets/, or another place. */
  readonly decidedBy: string;
}

/** The variables of each service, by name, with their source. */
export function effectiveVariables(parts: readonly Part[]): readonly EffectiveVariable[] {
  return servicesOf(parts).flatMap(({ service, part }) =>
    Object.entries(part.variables)
      .map(([name, value]) => ({
        ...{ service, name, value },
        decidedBy: placeOf(service, name.replace(/_FILE$/, '')) ?? `environment.${service}`,
      }))
      .toSorted((one, other) => one.name.localeCompare(other.name)),
  );
}
