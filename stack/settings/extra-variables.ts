import type { z } from 'zod';
import { suggestion } from '../../services/contracts/did-you-mean.ts';
import { isTelemetry, isTelemetrySecret } from '../../services/contracts/env/telemetry.ts';
import type { Variable } from '../../services/contracts/env/variable.ts';
import { rejected, type ServiceName, variables } from '../../services/contracts/env/variables.ts';
import { isObject } from '../../services/contracts/is-object.ts';
import { type Complaint, isScalar, withComplaints } from './rules.ts';

type Extra = Readonly<Record<string, string>>;

/** The place that decides a variable: a setting of svc.yaml, a file in secrets/, or the topology. */
export type PlaceOf = (service: ServiceName, variable: string) => string | undefined;

/**
 * Variables of a service without a setting. A variable with a setting is refused here, because two places would
 * conflict.
 */
export function extraVariables(service: ServiceName, placeOf: PlaceOf): z.ZodType<Extra> {
  return withComplaints(
    'variables with their values, such as { HEARTBEAT_INTERVAL: 1000 }',
    (raw) => complaintsOf(service, raw, placeOf),
    (raw) =>
      isObject(raw) ? Object.fromEntries(Object.entries(raw).map(([name, value]) => [name, String(value)])) : null,
  );
}

function complaintsOf(service: ServiceName, raw: unknown, placeOf: PlaceOf): readonly Complaint[] {
  if (!isObject(raw)) return [];
  const table: Readonly<Record<string, Variable<unknown>>> = variables[service];
  return Object.entries(raw).flatMap(([name, value]): readonly Complaint[] => {
    const about = (message: string, aboutName = true) => [{ path: [name], message, aboutName }];
    const place = placeOf(service, name.replace(/_FILE$/, ''));
    if (place !== undefined) return about(`${name} is decided by ${place} only.`);
    const repair = rejected[service]?.[name];
    if (repair !== undefined) return about(`${name} is rejected by ${service}. ${repair}`);
    const secretOfFile = name.endsWith('_FILE') && table[name.slice(0, -'_FILE'.length)]?.secret === true;
    if (secretOfFile && typeof value === 'string' && value.startsWith('/')) return [];
    const variable = table[name];
    if (isTelemetry(name)) {
      if (isTelemetrySecret(name)) return about(inFile(name));
      // svc.yaml is safe in git, so it must hold no password.
      if (isScalar(value) && /\/\/[^/\s]*@/.test(String(value)))
        return about(`${name} must be without user and password.`, false);
      return isScalar(value) && String(value).length <= textMaxLength ? [] : about(`${name} must be a text.`, false);
    }
    if (variable === undefined) {
      const free = Object.keys(table).filter((known) => placeOf(service, known) === undefined);
      return about(`"${name}" is not a variable of ${service}. ${suggestion(name, free)}`);
    }
    if (variable.secret) return about(inFile(name));
    if (isScalar(value) && variable.parse(String(value)) !== null) return [];
    return about(`${name} must be ${variable.rule}.`, false);
  });
}

const textMaxLength = 4096;

function inFile(name: string): string {
  return `${name} is a secret: put it into a file and name that file in ${name}_FILE.`;
}
