import { z } from 'zod';
import { suggestion } from '../../services/contracts/did-you-mean.ts';
import { isTelemetry, isTelemetrySecret } from '../../services/contracts/env/telemetry.ts';
import type { Variable } from '../../services/contracts/env/variable.ts';
import { rejected, type ServiceName, variables } from '../../services/contracts/env/variables.ts';
import { isScalar } from './rules.ts';

const textMaxLength = 4096;

/**
 * Variables of a service without a setting. A variable with a setting is refused here, because two places would
 * conflict. `placeOf` finds the place that decides a variable: a setting, a file in secrets/, or the topology.
 */
export function extraVariables(
  service: ServiceName,
  placeOf: (variable: string) => string | undefined,
): z.ZodType<Readonly<Record<string, string>>> {
  const table: Readonly<Record<string, Variable<unknown>>> = variables[service];

  /** In words that follow the variable. */
  const problemOf = (name: string, value: unknown): string | null => {
    const place = placeOf(name.replace(/_FILE$/, ''));
    if (place !== undefined) return `is decided by ${place} only.`;
    const repair = rejected[service]?.[name];
    if (repair !== undefined) return `is rejected by ${service}. ${repair}`;
    const isFileOfSecret = name.endsWith('_FILE') && table[name.slice(0, -'_FILE'.length)]?.secret === true;
    if (isFileOfSecret && typeof value === 'string' && value.startsWith('/')) return null;
    const variable = table[name];
    if (variable?.secret || isTelemetrySecret(name)) {
      return `is a secret: put it into a file and name that file in ${name}_FILE.`;
    }
    const text = isScalar(value) ? String(value) : null;
    if (isTelemetry(name)) {
      // svc.yaml is safe in git, so it must hold no password.
      if (text !== null && /\/\/[^/\s]*@/.test(text)) return 'must be without user and password.';
      return text !== null && text.length <= textMaxLength ? null : 'must be a text.';
    }
    if (variable === undefined) {
      const free = Object.keys(table).filter((known) => placeOf(known) === undefined);
      return `is not a variable of ${service}. ${suggestion(name, free)}`;
    }
    return text !== null && variable.parse(text) !== null ? null : `must be ${variable.rule}.`;
  };

  return z
    .record(z.string(), z.unknown())
    .superRefine((given, context) => {
      for (const [name, value] of Object.entries(given)) {
        const problem = problemOf(name, value);
        if (problem !== null) context.addIssue({ code: 'custom', path: [name], message: `It ${problem}` });
      }
    })
    .transform((given) => Object.fromEntries(Object.entries(given).map(([name, value]) => [name, String(value)])))
    .describe('variables with their values, such as { HEARTBEAT_INTERVAL: 1000 }');
}
