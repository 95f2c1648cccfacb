import { isIP } from 'node:net';
import { checkServerIdentity, type PeerCertificate } from 'node:tls';
import type { TlsOptions } from '@nats-io/transport-node';
import { hostOf } from '../../../contracts/host-of.ts';

/** How TLS is spoken with the servers, where it is asked for: then nothing is said to one that doesn't. Null where the server decides. */
export function tlsOf(servers: readonly string[], caPath: string | null): TlsOptions | null {
  if (caPath === null && !servers.some((server) => server.startsWith('tls://'))) return null;
  const addresses = servers.map(hostOf).filter((host) => isIP(host) !== 0);
  return {
    ...(caPath === null ? {} : { caFile: caPath }),
    ...(addresses.length === 0 ? {} : { checkServerIdentity: vouchesForOneOf(addresses) }),
  };
}

/** The client of NATS tells TLS no address but names: a certificate may then vouch for any of those it was given. */
function vouchesForOneOf(addresses: readonly string[]) {
  return (name: string, certificate: PeerCertificate): Error | undefined => {
    const asNamed = checkServerIdentity(name, certificate);
    if (asNamed === undefined) return undefined;
    const problems = addresses.map((address) => checkServerIdentity(address, certificate));
    return problems.includes(undefined) ? undefined : (problems[0] ?? asNamed);
  };
}
