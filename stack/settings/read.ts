import type { z } from 'zod';
import { isObject } from '../../services/contracts/is-object.ts';
import { type MistakeList, nameOf } from './mistakes.ts';
import { type Group, isGroup, type Setting } from './setting.ts';
import type { Path } from './yaml-text.ts';

/** The settings in a file, with defaults for missing ones. Mistakes are added to the list. */
export function readSettings({ parts }: Group, given: unknown, mistakes: MistakeList, path: Path = []): unknown {
  // A name without a value counts as missing.
  const fields = given ?? {};
  if (!isObject(fields)) {
    mistakes.add(path, `${nameOf(path)} must hold fields: ${Object.keys(parts).join(', ')}.`);
    return undefined;
  }
  for (const name of Object.keys(fields)) {
    if (!Object.hasOwn(parts, name)) mistakes.addUnknown([...path, name], Object.keys(parts));
  }
  const entries = Object.entries(parts).map(([name, part]) => {
    const inner = [...path, name];
    const own = fields[name];
    return [name, isGroup(part) ? readSettings(part, own, mistakes, inner) : readSetting(part, own, mistakes, inner)];
  });
  return Object.fromEntries(entries);
}

function readSetting(
  { rule, default: usual, hasOwnMessages = false }: Setting<unknown>,
  given: unknown,
  mistakes: MistakeList,
  path: Path,
): unknown {
  const raw = given ?? usual;
  const read = rule.safeParse(raw);
  if (read.success) return read.data;
  const { issues } = read.error;
  if (hasOwnMessages && issues.some((issue) => issue.code === 'custom' || isAboutFields(issue))) {
    mistakes.addIssues(path, issues);
    return undefined;
  }
  const shown = JSON.stringify(raw)?.slice(0, 80) ?? 'left out';
  mistakes.add(path, `${nameOf(path)} must be ${rule.description}, not ${shown}.`);
  return undefined;
}

function isAboutFields({ code, path }: z.core.$ZodIssue): boolean {
  return code === 'unrecognized_keys' || path.length > 0;
}
