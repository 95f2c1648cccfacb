import { checkEnv, type EnvRecord } from '../../services/contracts/env/check.ts';
import type { Variable } from '../../services/contracts/env/variable.ts';
import { type ServiceName, variables } from '../../services/contracts/env/variables.ts';
import { SvcError } from '../../services/contracts/errors.ts';
import { placeOf } from '../settings/settings.ts';
import { fileAt, type Part } from './part.ts';
import { servicesOf } from './parts.ts';

/** The content of a file in secrets/; undefined while it is not generated yet. */
type ReadSecret = (file: string) => string | undefined;

/** Throws one error with every variable that a service would refuse, and the place in svc.yaml that decides it. */
export function checkEnvironment(parts: readonly Part[], readSecret: ReadSecret): void {
  const lines = servicesOf(parts).flatMap(({ service, part }) =>
    checkEnv(service, withSecrets(service, part, readSecret)).problems.map(
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

function withSecrets(service: ServiceName, part: Part, readSecret: ReadSecret): EnvRecord {
  const secrets = Object.entries<Variable<unknown>>(variables[service]).flatMap(([name, { secret }]) => {
    const path = part.variables[`${name}_FILE`];
    return secret && path !== undefined ? [[name, readSecret(fileAt(path, part))]] : [];
  });
  return { ...part.variables, ...Object.fromEntries(secrets) };
}

/** The variables of each service, by name, with their source. Secrets are given as files. */
export function effectiveVariables(parts: readonly Part[]) {
  return servicesOf(parts).flatMap(({ service, part }) =>
    Object.entries(part.variables)
      .map(([name, value]) => ({
        ...{ service, name, value },
        decidedBy: placeOf(service, name.replace(/_FILE$/, '')) ?? `environment.${service}`,
      }))
      .toSorted((one, other) => one.name.localeCompare(other.name)),
  );
}
