import { suggestion } from '../../services/contracts/did-you-mean.ts';
import { isObject } from '../../services/contracts/is-object.ts';
import { complaintsIn } from './rules.ts';
import { type Group, isGroup, type Setting } from './setting.ts';
import type { Mistake, Path, YamlText } from './yaml-text.ts';

interface Reading {
  readonly text: YamlText;
  readonly mistakes: Mistake[];
}

/** The settings in a file, with defaults for missing ones. Mistakes are appended to the given list. */
export function readSettings(all: Group, text: YamlText, mistakes: Mistake[]): unknown {
  return readGroup({ text, mistakes }, [], all, text.value);
}

function readGroup(reading: Reading, path: Path, { parts }: Group, given: unknown): unknown {
  // A name without a value counts as missing.
  const fields = given ?? {};
  if (!isObject(fields)) {
    complain(reading, path, `${nameOf(path)} must hold fields: ${Object.keys(parts).join(', ')}.`);
    return undefined;
  }
  for (const name of Object.keys(fields)) {
    if (Object.hasOwn(parts, name)) continue;
    const message = `"${[...path, name].join('.')}" is not a field. ${suggestion(name, Object.keys(parts))}`;
    reading.mistakes.push({ ...reading.text.locateName([...path, name]), message });
  }
  const entries = Object.entries(parts).map(([name, part]) => {
    const inner = [...path, name];
    const own = fields[name];
    return [name, isGroup(part) ? readGroup(reading, inner, part, own) : readSetting(reading, inner, part, own)];
  });
  return Object.fromEntries(entries);
}

function readSetting(
  reading: Reading,
  path: Path,
  { rule, default: usual }: Setting<unknown>,
  given: unknown,
): unknown {
  const raw = given ?? usual;
  const read = rule.safeParse(raw);
  if (read.success) return read.data;
  const complaints = complaintsIn(read.error.issues);
  for (const { path: below, message, aboutName } of complaints) {
    const place = [...path, ...below];
    const position = aboutName ? reading.text.locateName(place) : reading.text.locate(place);
    reading.mistakes.push({ ...position, message });
  }
  if (complaints.length === 0) {
    const shown = JSON.stringify(raw)?.slice(0, 80) ?? 'left out';
    complain(reading, path, `${nameOf(path)} must be ${rule.description}, not ${shown}.`);
  }
  return undefined;
}

function complain(reading: Reading, path: Path, message: string): void {
  reading.mistakes.push({ ...reading.text.locate(path), message });
}

function nameOf(path: Path): string {
  return path.length === 0 ? 'The file' : path.join('.');
}
