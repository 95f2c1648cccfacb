import { suggestion } from '../../services/contracts/did-you-mean.ts';
import { SvcError } from '../../services/contracts/errors.ts';
import { type Group, isGroup, type Row, rowsOf } from './setting.ts';
import { settings } from './settings.ts';

/** All settings for documentation, or those of one section, such as `runtime` or `limits.memoryMaxMb`. */
export function describeSettings(section: string | undefined) {
  const rows = rowsOf(settings).map(describe);
  if (section === undefined) return rows;
  const found = rows.filter(({ path }) => path === section || path.startsWith(`${section}.`));
  if (found.length > 0) return found;
  throw new SvcError('not_found', `"${section}" is not a setting. ${suggestion(section, namesBeside(section))}`, {
    hint: 'List all settings: svc config docs',
  });
}

function namesBeside(section: string): readonly string[] {
  let { parts }: Group = settings;
  const found: string[] = [];
  for (const name of section.split('.').slice(0, -1)) {
    const below = Object.hasOwn(parts, name) ? parts[name] : undefined;
    if (below === undefined || !isGroup(below)) break;
    parts = below.parts;
    found.push(name);
  }
  return Object.keys(parts).map((name) => [...found, name].join('.'));
}

function describe({ path, meaning, setting }: Row) {
  const { rule, default: usual, variables = {} } = setting;
  return {
    path: path.join('.'),
    meaning,
    rule: rule.description ?? '',
    default: usual,
    /** As `service VARIABLE`. */
    variables: Object.entries(variables).flatMap(([service, names]) => names.map((name) => `${service} ${name}`)),
  };
}
