import { ownVersion } from '../machine/version.ts';
import type { Part } from '../parts/part.ts';
import { partsOf } from '../parts/parts.ts';
import type { Setup } from '../parts/setup.ts';
import { secretFilesOf } from '../secrets/secrets.ts';
import { addressesOf } from '../settings/addresses.ts';
import { wishesOf } from '../settings/ports.ts';

/** Everything for the start of a platform, decided beforehand. */
export interface Plan extends Setup {
  readonly parts: readonly Part[];
  readonly version: string;
}

/** The plan of a definition at the site of its engine. */
export function planAt(at: Pick<Setup, 'installation' | 'definition' | 'ports' | 'site'>): Plan {
  const { installation, definition, ports } = at;
  const setup = {
    ...at,
    wishes: wishesOf(definition),
    addresses: addressesOf(definition, ports),
    secrets: secretFilesOf(installation),
  };
  return { ...setup, parts: partsOf(setup), version: ownVersion() };
}
