import { readFileSync } from 'node:fs';
import { basename } from 'node:path';

/** A template with these values in the places that it names. Throws where one is left open. */
export function fillPlaces(template: URL, values: Readonly<Record<string, string>>): string {
  return readFileSync(template, 'utf8').replace(/\$\{(\w+)\}/g, (_, name: string) => {
    const value = values[name];
    if (value === undefined) throw new Error(`nothing is said about ${name} of ${basename(template.pathname)}`);
    return value;
  });
}
