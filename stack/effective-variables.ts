import { type Environment, servicesOf } from './environment.ts';
import { placeOf } from './settings/settings.ts';

export interface EffectiveVariable {
  readonly service: string;
  readonly name: string;
  /** Never a secret: those are named by file. */
  readonly value: string;
  /** A setting of svc.yaml, a file in secrets/, or another place. */
  readonly decidedBy: string;
}

/** What each service gets, by name, with what decides it. */
export function effectiveVariables(environment: Environment): readonly EffectiveVariable[] {
  return servicesOf(environment).flatMap((service) =>
    Object.entries(environment[service])
      .map(([name, value]) => ({
        ...{ service, name, value },
        decidedBy: placeOf(service, name.replace(/_FILE$/, '')) ?? `environment.${service}`,
      }))
      .toSorted((one, other) => one.name.localeCompare(other.name)),
  );
}
