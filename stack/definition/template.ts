import { readFileSync } from 'node:fs';
import { replaceScalar } from '../yaml-text.ts';

/** The annotated reference of svc.yaml: names, meanings and defaults of all fields. */
export function templateText(): string {
  return readFileSync(new URL('../../templates/svc.yaml', import.meta.url), 'utf8');
}

/** What is chosen when an installation is made. */
export interface Choices {
  readonly id: string;
  readonly name?: string | undefined;
  readonly ownerEmail?: string | undefined;
  readonly topology?: string | undefined;
  readonly graph?: string | undefined;
  readonly engine?: string | undefined;
  readonly ports?: Readonly<Record<string, number>> | undefined;
}

/** The template with these choices in the place of its defaults, annotations kept. */
export function fillTemplate({ id, name, ownerEmail, ports, ...how }: Choices): string {
  let text = replaceScalar(templateText(), ['id'], id);
  // JSON strings are YAML strings, whatever they hold.
  if (name !== undefined) text = replaceScalar(text, ['name'], JSON.stringify(name));
  if (ownerEmail !== undefined) text = replaceScalar(text, ['owner', 'email'], JSON.stringify(ownerEmail));
  for (const [field, value] of Object.entries(how)) if (value !== undefined) text = replaceScalar(text, [field], value);
  for (const [listener, port] of Object.entries(ports ?? {}))
    text = replaceScalar(text, ['ports', listener], String(port));
  return text;
}
