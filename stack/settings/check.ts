import { readFileSync } from 'node:fs';
import type { z } from 'zod';
import { SvcError } from '../../services/contracts/errors.ts';
import { isObject } from '../../services/contracts/is-object.ts';
import { conflictsIn } from './conflicts.ts';
import type { Definition } from './definition.ts';
import { MistakeList, nameOf } from './mistakes.ts';
import { type Group, isGroup, type Setting } from './setting.ts';
import { settings } from './settings.ts';
import { describeMistakes, isMistakes, type Mistake, type Path, readYaml } from './yaml-text.ts';

/** A person writes a few hundred lines; a larger file was named by mistake. */
const definitionMaxBytes = 1024 * 1024;

export function readDefinition(file: string): Definition {
  return checkDefinition(readFileSync(file, 'utf8'), file);
}

/** The settings in the text, with defaults for missing ones. One error lists every mistake with its place. */
export function checkDefinition(text: string, file: string): Definition {
  if (text.length > definitionMaxBytes) {
    throw new SvcError('too_large', `${file} is longer than ${definitionMaxBytes} bytes.`);
  }
  const read = readYaml(text);
  if (isMistakes(read)) throw mistaken(file, read);
  const mistakes = new MistakeList(read);
  // Each leaf is parsed by the rule of its setting; the compiler does not follow that through the recursion.
  const definition = readSettings(settings, read.value, mistakes) as Definition;
  if (mistakes.all.length === 0) {
    for (const [path, message] of conflictsIn(definition)) mistakes.add(path.split('.'), message);
  }
  if (mistakes.all.length > 0) throw mistaken(file, mistakes.all);
  return definition;
}

function mistaken(file: string, mistakes: readonly Mistake[]): SvcError {
  return new SvcError('invalid_input', describeMistakes(file, mistakes), {
    hint: 'Show the meaning of each setting: svc config docs',
  });
}

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
