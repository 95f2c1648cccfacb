import { z } from 'zod';
import { suggestion } from '../../services/contracts/did-you-mean.ts';
import type { Mistake, Path, YamlText } from './yaml-text.ts';

/** Fields under known names. Its error is the rule; about an unknown name, it is the list of the known ones. */
export function fields<Shape extends z.core.$ZodLooseShape>(shape: Shape, rule: string) {
  const known = Object.keys(shape).join(separator);
  return z.strictObject(shape, { error: ({ code }) => (code === 'unrecognized_keys' ? known : rule) });
}

const separator = ', ';

/** The mistakes of one YAML file, each with its position. */
export class MistakeList {
  readonly all: Mistake[] = [];
  readonly #text: YamlText;

  constructor(text: YamlText) {
    this.#text = text;
  }

  /** About the value at this path. */
  add(path: Path, message: string): void {
    this.all.push({ ...this.#text.locate(path), message });
  }

  /** About the name at the end of this path. */
  addToName(path: Path, message: string): void {
    this.all.push({ ...this.#text.locateName(path), message });
  }

  addUnknown(path: Path, known: readonly string[]): void {
    this.addToName(path, `"${path.join('.')}" is not a field. ${suggestion(String(path.at(-1)), known)}`);
  }

  /** Those of a value below `path`. Errors of its schema follow "must be", except errors of refinements. */
  addIssues(path: Path, issues: readonly z.core.$ZodIssue[]): void {
    for (const issue of issues) {
      const below = [...path, ...issue.path.filter((part) => typeof part !== 'symbol')];
      if (issue.code === 'unrecognized_keys') {
        for (const name of issue.keys) this.addUnknown([...below, name], issue.message.split(separator));
      } else if (issue.code === 'invalid_key') {
        for (const { message } of issue.issues) this.addToName(below, `${nameOf(below)}: ${message}`);
      } else if (issue.code === 'custom') {
        this.add(below, `${nameOf(below)}: ${issue.message}`);
      } else {
        this.add(below, `${nameOf(below)} must be ${issue.message}.`);
      }
    }
  }
}

export function nameOf(path: Path): string {
  return path.length === 0 ? 'The file' : path.join('.');
}
