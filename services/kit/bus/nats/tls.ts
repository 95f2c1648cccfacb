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
  const hosts = servers.map(hostOf);
  return {
    ...(caPath === null ? {} : { caFile: caPath }),
    ...(hosts.every((host) => isIP(host) === 0) ? {} : { checkServerIdentity: certificateCoversOneOf(hosts) }),
  };
}

/**
 * The NATS client passes TLS a name but no IP address, so the certificate may be for any of the given addresses. Without
 * a name, Node checks the certificate for "localhost".
 */
function certificateCoversOneOf(hosts: readonly string[]) {
  return (name: string, certificate: PeerCertificate): Error | undefined => {
    const accepted = hosts.includes(name) ? [name] : hosts.filter((host) => isIP(host) !== 0);
    const problems = accepted.map((host) => checkServerIdentity(host, certificate));
    return problems.includes(undefined) ? undefined : problems[0];
  };
}
