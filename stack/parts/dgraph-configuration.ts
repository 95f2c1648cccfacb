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

/** What an idle data node takes beside its cache, twice over. */
const besideCacheMb = 256;

/** From there on a data node collects its garbage sooner, and takes more where it must. */
export function alphaMemoryMb(cacheMb: number): number {
  return cacheMb + besideCacheMb;
}
