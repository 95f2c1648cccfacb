import { isIP } from 'node:net';
import { SvcError } from '../../contracts/errors.ts';
import type { WithConfig } from '../bus/with-bus.ts';

export type WithPageAddress = WithConfig<'PUBLIC_FRONTEND_URL'>;

/** The page, as passkeys know it (WebAuthn Level 3 §5.1.2). A passkey works on its host only. */
export interface RelyingParty {
  readonly id: string;
  readonly origin: string;
}

/** Null where browsers have no passkeys: without https, except on this machine, and at an IP address. */
export function findRelyingParty({ config }: WithPageAddress): RelyingParty | null {
  const { hostname, origin, protocol } = new URL(config.PUBLIC_FRONTEND_URL);
  const isLocal = /(^|\.)localhost$/.test(hostname);
  const isName = isIP(hostname) === 0 && !hostname.startsWith('[');
  return isName && (protocol === 'https:' || isLocal) ? { id: hostname, origin } : null;
}

export function getRelyingParty(backend: WithPageAddress): RelyingParty {
  const party = findRelyingParty(backend);
  if (party !== null) return party;
  const page = backend.config.PUBLIC_FRONTEND_URL;
  throw new SvcError('unsupported', `Browsers have no passkeys for ${page}: they need https and a host name.`, {
    hint: 'Set public.host and public.tls, or publicUrls.frontend, in svc.yaml.',
  });
}

/** It takes 6 MB, so it is loaded for the first passkey. */
export async function loadWebauthn(): Promise<typeof import('@simplewebauthn/server')> {
  return await import('@simplewebauthn/server');
}
