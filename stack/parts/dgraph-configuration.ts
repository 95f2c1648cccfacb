import { fillPlaces } from './fill-places.ts';

type Values = Readonly<Record<string, string>>;

/** The template of the coordination node with these values in its places. Throws where one is left open. */
export function zeroConfiguration(values: Values): string {
  return fillPlaces(new URL('../../templates/dgraph-zero.yaml', import.meta.url), values);
}

/** The template of the data node. */
export function alphaConfiguration(values: Values): string {
  return fillPlaces(new URL('../../templates/dgraph-alpha.yaml', import.meta.url), values);
}
