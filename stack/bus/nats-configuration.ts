import { fillPlaces } from '../fill-places.ts';
import { readSecret, type SecretFiles } from '../secrets.ts';
import { publicBusKey } from './seeds.ts';

/** The template with these values in its places. Throws where one is left open. */
export function natsConfiguration(values: Readonly<Record<string, string>>): string {
  return fillPlaces(new URL('../../templates/nats.conf', import.meta.url), values);
}

/** The public halves of the seeds that are the backend's: NATS knows it by them. */
export function busKeysOf(secrets: SecretFiles): Readonly<Record<string, string>> {
  return {
    CALLOUT_PUBLIC_KEY: publicBusKey(readSecret(secrets.busCalloutSeed)),
    SYSTEM_PUBLIC_KEY: publicBusKey(readSecret(secrets.busSystemSeed)),
    ISSUER_PUBLIC_KEY: publicBusKey(readSecret(secrets.busIssuerSeed)),
  };
}
