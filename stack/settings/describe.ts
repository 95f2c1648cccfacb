import { suggestion } from '../../services/contracts/did-you-mean.ts';
import { SvcError } from '../../services/contracts/errors.ts';
import { type Group, isGroup, type Row, rowsOf } from './setting.ts';

/** A setting for documentation. */
export interface DescribedSetting {
  readonly path: string;
  /** Its own meaning, or that of its group. */
  readonly meaning: string;
  readonly rule: string;
  readonly default: unknown;
  /** Variables that it decides, as `service VARIABLE`. */
  readonly variables: readonly string[];
}

/** All settings, or those of one section, such as `runtime` or `limits.memoryMaxMb`. */
export function describeSettings(all: Group, section: string | undefined): readonly DescribedSetting[] {
  const rows = rowsOf(all).map(describe);
  if (section === undefined) return rows;
  const found = rows.filter(({ path }) => path === section || path.startsWith(`${section}.`));
  if (found.length > 0) return found;
  throw new SvcError('not_found', `"${section}" is not a setting. ${suggestion(section, namesBeside(all, section))}`, {
    hint: 'List all settings: svc config docs',
  });
}

/** The names at the level of the unknown one. */
function namesBeside(all: Group, section: string): readonly string[] {
  let { parts } = all;
  const found: string[] = [];
  for (const name of section.split('.').slice(0, -1)) {
    const below = Object.hasOwn(parts, name) ? parts[name] : undefined;
    if (below === undefined || !isGroup(below)) break;
    parts = below.parts;
    found.push(name);
  }
  return Object.keys(parts).map((name) => [...found, name].join('.'));
}

function describe({ path, meaning, setting }: Row): DescribedSetting {
  const { rule, default: usual, variables = {} } = setting;
  return {
    path: path.join('.'),
    meaning,
    rule: rule.description ?? '',
    default: usual,
    variables: Object.entries(variables).flatMap(([service, names]) => names.map((name) => `${service} ${name}`)),
  };
}
