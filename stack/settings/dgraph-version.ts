import { isVersion } from '../machine/check-program.ts';

/** Older coordination nodes let everyone administer them. */
export const oldestDgraph = '25.4';
/** The first version that can refuse requests without credentials. Older versions do not start with that setting. */
const refusesAnonymous = '25.5';

/** What a program says that was built without being told its version: whoever built it knows how old it is. */
export const builtFromSource = 'dev';

export function isNewDgraph(version: string | null): boolean {
  return version === builtFromSource || isVersion(version, oldestDgraph);
}

/** The rest of `--security`, beside the token, as far as a program of this version knows it. */
export function postureAt(version: string | null): string {
  return isVersion(version, refusesAnonymous) ? ' anonymous=none' : '';
}
