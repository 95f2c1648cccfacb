import { readFileSync } from 'node:fs';
import type { z } from 'zod';
import { SvcError } from '../../services/contracts/errors.ts';
import { isObject } from '../../services/contracts/is-object.ts';
import { conflictsIn } from './conflicts.ts';
import type { Definition } from './definition.ts';
import { type Group, isGroup, type Setting } from './setting.ts';
import { settings } from './settings.ts';
import { describeMistakes, nameOf, type Path, YamlText } from './yaml-text.ts';

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
  refuseOtherText(text, file);
  const yaml = new YamlText(text);
  refuseMistakes(file, yaml);
  if (yaml.value === null) {
    throw new SvcError('invalid_input', `${file} is empty: it holds no settings.`, {
      hint: 'Put back a copy of the file.',
    });
  }
  // Each leaf is parsed by the rule of its setting; the compiler does not follow that through the recursion.
  const definition = readSettings(settings, yaml.value, yaml) as Definition;
  refuseMistakes(file, yaml);
  for (const [path, message] of conflictsIn(definition)) yaml.add(path.split('.'), message);
  refuseMistakes(file, yaml);
  return definition;
}

/** A text in UTF-16, or a file that is no text. */
function refuseOtherText(text: string, file: string): void {
  if (!text.includes('\0') && !text.includes('\ufffd')) return;
  throw new SvcError('invalid_input', `${file} is not text in UTF-8.`, {
    hint: 'Save it as UTF-8 in an editor, or put back a copy of the file.',
  });
}

function refuseMistakes(file: string, { mistakes }: YamlText): void {
  if (mistakes.length === 0) return;
  throw new SvcError('invalid_input', describeMistakes(file, mistakes), {
    hint: 'Show the meaning of each setting: svc config docs',
  });
}

/** The settings in a file, with defaults for missing ones. Adds the mistakes to the file's. */
export function readSettings({ parts }: Group, given: unknown, yaml: YamlText, path: Path = []): unknown {
  // A name without a value counts as missing.
  const fields = given ?? {};
  if (!isObject(fields)) {
    yaml.add(path, `${nameOf(path)} must hold fields: ${Object.keys(parts).join(', ')}.`);
    return undefined;
  }
  for (const name of Object.keys(fields)) {
    if (!Object.hasOwn(parts, name)) yaml.addUnknown([...path, name], Object.keys(parts));
  }
  const entries = Object.entries(parts).map(([name, part]) => {
    const inner = [...path, name];
    const own = fields[name];
    return [name, isGroup(part) ? readSettings(part, own, yaml, inner) : readSetting(part, own, yaml, inner)];
  });
  return Object.fromEntries(entries);
}

function readSetting(
  { rule, default: usual, hasOwnMessages = false }: Setting<unknown>,
  given: unknown,
  yaml: YamlText,
  path: Path,
): unknown {
  const raw = given ?? usual;
  const read = rule.safeParse(raw);
  if (read.success) return read.data;
  const { issues } = read.error;
  if (hasOwnMessages && issues.some((issue) => issue.code === 'custom' || isAboutFields(issue))) {
    yaml.addIssues(path, issues);
    return undefined;
  }
  const shown = JSON.stringify(raw)?.slice(0, 80) ?? 'left out';
  yaml.add(path, `${nameOf(path)} must be ${rule.description}, not ${shown}.`);
  return undefined;
}

function isAboutFields({ code, path }: z.core.$ZodIssue): boolean {
  return code === 'unrecognized_keys' || path.length > 0;
}
