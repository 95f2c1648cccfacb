import { fillPlaces } from './fill-places.ts';

type Values = Readonly<Record<string, string>>;

/** Fills the template of the coordination node. Throws when a placeholder is left. */
export function zeroConfiguration(values: Values): string {
  return fillPlaces(new URL('../../templates/dgraph-zero.yaml', import.meta.url), values);
}

/** Fills the template of the data node. */
export function alphaConfiguration(values: Values): string {
  return fillPlaces(new URL('../../templates/dgraph-alpha.yaml', import.meta.url), values);
}
