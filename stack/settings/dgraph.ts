import { builtFromSource, isVersion } from '../machine/check-program.ts';

/** Older coordination nodes let every client administer them. */
export const oldestDgraph = '25.4';
/** The first version that can refuse requests without credentials. Older versions do not start with that setting. */
const refusesAnonymous = '25.5';

export function isNewDgraph(version: string | null): boolean {
  return version === builtFromSource || isVersion(version, oldestDgraph);
}

/** The rest of `--security`, besides the token, that a program of this version supports. */
export function postureAt(version: string | null): string {
  return isVersion(version, refusesAnonymous) ? ' anonymous=none' : '';
}

/** Twice the memory of an idle data node besides its cache. */
const besideCacheMb = 256;

/** Above this, a data node collects garbage sooner; it takes more when it must. */
export function alphaMemoryMb(cacheMb: number): number {
  return cacheMb + besideCacheMb;
}
