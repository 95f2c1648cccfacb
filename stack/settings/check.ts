import { readFileSync } from 'node:fs';
import { SvcError } from '../../services/contracts/errors.ts';
import { conflictsIn } from './conflicts.ts';
import type { Definition } from './definition.ts';
import { MistakeList } from './mistakes.ts';
import { readSettings } from './read.ts';
import { settings } from './settings.ts';
import { describeMistakes, isMistakes, type Mistake, readYaml } from './yaml-text.ts';

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
