import { stringify } from 'yaml';
import { type Group, isGroup } from './setting.ts';

/** Choices for a new installation, nested as in the file. A missing one gets its default. */
type Choices = Readonly<Record<string, unknown>>;

const lineMaxLength = 148;

/** The text of svc.yaml: every setting with its meaning and its value. */
export function writeSettings(all: Group, choices: Choices): string {
  return `${[...comment(all.meaning, ''), '', ...linesOf(all, choices, '')].join('\n').trimEnd()}\n`;
}

function linesOf({ parts }: Group, choices: Choices, indent: string): readonly string[] {
  return Object.entries(parts).flatMap(([name, part]) => {
    const chosen = choices[name];
    const lines = isGroup(part)
      ? [`${indent}${name}:`, ...linesOf(part, (chosen ?? {}) as Choices, `${indent}  `)]
      : [
          `${indent}${name}: ${scalarOf(chosen === undefined ? part.default : chosen)}${part.note === undefined ? '' : ` # ${part.note}`}`,
        ];
    return [...comment(part.meaning, indent), ...lines, ...(indent === '' ? [''] : [])];
  });
}

function scalarOf(value: unknown): string {
  return stringify(value, { collectionStyle: 'flow', lineWidth: 0 }).trimEnd();
}

function comment(meaning: string | undefined, indent: string): readonly string[] {
  if (meaning === undefined) return [];
  return meaning
    .split('\n')
    .flatMap((line) => wrapped(line, lineMaxLength - indent.length))
    .map((line) => `${indent}# ${line}`);
}

/** Wraps lines between words. An indented line is an example, and stays whole. */
function wrapped(text: string, lengthMax: number): readonly string[] {
  if (text.startsWith(' ')) return [text];
  const lines = text.match(new RegExp(`.{1,${lengthMax}}(?: |$)`, 'g')) ?? [];
  return lines.map((line) => line.trimEnd());
}
