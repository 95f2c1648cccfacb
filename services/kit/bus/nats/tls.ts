import { isIP } from 'node:net';
import { checkServerIdentity, type PeerCertificate } from 'node:tls';
import type { TlsOptions } from '@nats-io/transport-node';
import { hostOf } from '../../../contracts/host-of.ts';

/**
 * TLS options for the servers when TLS is requested: then no credential is sent to a server without TLS. Null when the
 * server decides.
 */
export function tlsOf(servers: readonly string[], caPath: string | null): TlsOptions | null {
  if (caPath === null && !servers.some((server) => server.startsWith('tls://'))) return null;
  const addresses = servers.map(hostOf).filter((host) => isIP(host) !== 0);
  return {
    ...(caPath === null ? {} : { caFile: caPath }),
    ...(addresses.length === 0 ? {} : { checkServerIdentity: certificateCoversOneOf(addresses) }),
  };
}

/** The NATS client passes TLS a name but no IP address, so the certificate may be for any of the given addresses. */
function certificateCoversOneOf(addresses: readonly string[]) {
  return (name: string, certificate: PeerCertificate): Error | undefined => {
    const asNamed = checkServerIdentity(name, certificate);
    if (asNamed === undefined) return undefined;
    const problems = addresses.map((address) => checkServerIdentity(address, certificate));
    return problems.includes(undefined) ? undefined : (problems[0] ?? asNamed);
  };
}
