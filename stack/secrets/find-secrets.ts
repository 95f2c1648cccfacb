import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { gitignore } from '../state/folder.ts';
import type { Installation } from '../state/installation.ts';

/** Finds the secrets of an installation in a text, also when they are encoded. */
export interface SecretFinder {
  /** The text with each secret replaced by its name. */
  without(text: string): string;
  /** Names of the secrets in the text. */
  find(text: string): readonly string[];
}

/** A shorter text appears by chance. */
const lengthMin = 8;

export function openSecretFinder({ secretsDir }: Pick<Installation, 'secretsDir'>): SecretFinder {
  const needles = readdirSync(secretsDir)
    .filter((name) => name !== gitignore && statSync(join(secretsDir, name)).isFile() && !isPublic(name))
    .flatMap((name) => needlesOf(name, readFileSync(join(secretsDir, name))));
  return {
    without: (text) => needles.reduce((left, { name, form }) => left.replaceAll(form, `[secret ${name}]`), text),
    find: (text) => [...new Set(needles.flatMap(({ name, form }) => (text.includes(form) ? [name] : [])))],
  };
}

/** Public halves and certificates. */
function isPublic(name: string): boolean {
  return name === 'jwt-public.pem' || name.endsWith('.crt');
}

interface Needle {
  readonly name: string;
  readonly form: string;
}

/** A file as a whole, and each of its lines: of a PEM file, a few lines are secret enough. */
function needlesOf(name: string, content: Buffer): readonly Needle[] {
  const text = content.toString('utf8').trim();
  const values = [text, ...text.split(/\r?\n/).filter((line) => !line.startsWith('-----'))];
  return [...new Set(values)]
    .filter((value) => value.length >= lengthMin)
    .flatMap((value) => [...new Set(formsOf(value))].map((form) => ({ name, form })));
}

/** As it is, in URLs, in JSON, in hexadecimal, and in base64 at each of the three offsets. */
function formsOf(value: string): readonly string[] {
  const bytes = Buffer.from(value);
  const hex = bytes.toString('hex');
  const base64 = [0, 1, 2].map((before) => base64Within(bytes, before));
  const base64url = base64.map((text) => text.replaceAll('+', '-').replaceAll('/', '_'));
  return [
    value,
    encodeURIComponent(value),
    JSON.stringify(value).slice(1, -1),
    hex,
    hex.toUpperCase(),
    ...base64,
    ...base64url,
  ];
}

/** Without the characters that also encode a neighbour (RFC 4648 §4). */
function base64Within(bytes: Buffer, before: number): string {
  const encoded = Buffer.concat([Buffer.alloc(before), bytes])
    .toString('base64')
    .replaceAll('=', '');
  const isShared = ((before + bytes.length) * 8) % 6 !== 0;
  return encoded.slice(Math.ceil((before * 8) / 6), isShared ? -1 : undefined);
}
