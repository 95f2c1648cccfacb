import { checkEnv, type EnvRecord } from '../../services/contracts/env/check.ts';
import type { Variable } from '../../services/contracts/env/variable.ts';
import { variables } from '../../services/contracts/env/variables.ts';
import { SvcError } from '../../services/contracts/errors.ts';
import { placeOf } from '../settings/settings.ts';
import { fileAt, type Part } from './part.ts';
import { servicesOf } from './parts.ts';

/** The content of a file in secrets/; undefined while it is not generated yet. */
type ReadSecret = (file: string) => string | undefined;

/** Throws one error with every variable that a service would refuse, and the place in svc.yaml that decides it. */
export function checkEnvironment(parts: readonly Part[], readSecret: ReadSecret): void {
  const lines = servicesOf(parts).flatMap(({ service, part }) =>
    checkEnv(service, withSecrets(variables[service], part, readSecret)).problems.map(
      ({ variable, rule, repair }) =>
        `${placeOf(service, variable) ?? `environment.${service}`}: ${variable} of ${service} ${rule}. ${repair}`,
    ),
  );
  if (lines.length > 0)
    throw new SvcError('invalid_input', lines.join('\n'), { hint: 'Correct svc.yaml: svc config check' });
}

/** The settings of svc.yaml without effect, a line each. */
export function withoutEffect(parts: readonly Part[]): readonly string[] {
  return servicesOf(parts).flatMap(({ service, part }) =>
    checkEnv(service, part.variables).warnings.map((warning) => `${service}: ${warning}`),
  );
}

function withSecrets(
  known: Readonly<Record<string, Variable<unknown>>>,
  part: Part,
  readSecret: ReadSecret,
): EnvRecord {
  const resolved: Record<string, string | undefined> = { ...part.variables };
  for (const [name, { secret }] of Object.entries(known)) {
    const path = part.variables[`${name}_FILE`];
    if (secret && path !== undefined) resolved[name] = readSecret(fileAt(path, part));
  }
  return resolved;
}

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
