import { readFileSync } from 'node:fs';
import { basename } from 'node:path';

/** Fills the named placeholders of a template with these values. Throws when one is left. */
export function fillPlaces(template: URL, values: Readonly<Record<string, string>>): string {
  return readFileSync(template, 'utf8').replace(/\$\{(\w+)\}/g, (_, name: string) => {
    const value = values[name];
    if (value === undefined) throw new Error(`${basename(template.pathname)} has no value for ${name}`);
    return value;
  });
}
