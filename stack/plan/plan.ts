import { ownVersion } from '../machine/version.ts';
import type { Part } from '../parts/part.ts';
import { partsOf } from '../parts/parts.ts';
import type { Setup } from '../parts/setup.ts';
import { secretFilesOf } from '../secrets/secrets.ts';
import { addressesOf } from '../settings/addresses.ts';

/** Everything for the start of a platform, decided beforehand. */
export interface Plan extends Setup {
  readonly parts: readonly Part[];
  readonly version: string;
}

/** The plan of a definition at the site of its engine. */
export function planAt(at: Omit<Setup, 'addresses' | 'secrets'>): Plan {
  const setup = { ...at, addresses: addressesOf(at.definition, at.ports), secrets: secretFilesOf(at.installation) };
  return { ...setup, parts: partsOf(setup), version: ownVersion() };
}
