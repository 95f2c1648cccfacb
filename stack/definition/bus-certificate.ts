import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { hostOf } from '../host-of.ts';
import type { BusTls, PublicBus } from './public-bus.ts';

export interface CertificateProblem {
  /** The part of `bus.public.tls` that is wrong. */
  readonly part: keyof BusTls;
  /** In words that follow its name. */
  readonly why: string;
}

/** The files of the bus's TLS, from the folder of the installation. */
export function busTlsFiles(dir: string, { cert, key, ca }: BusTls): BusTls {
  return { cert: resolve(dir, cert), key: resolve(dir, key), ca: ca === null ? null : resolve(dir, ca) };
}

/** What would keep runtimes from trusting the bus, or the bus from starting: the files, each other, their time and their names. */
export function certificateProblems(dir: string, bus: PublicBus, now = new Date()): readonly CertificateProblem[] {
  if (bus.tls === null) return [];
  const files = busTlsFiles(dir, bus.tls);
  const problems: CertificateProblem[] = [];
  const read = <Value>(part: keyof BusTls, file: string, parse: (pem: string) => Value): Value | null => {
    try {
      return parse(readFileSync(file, 'utf8'));
    } catch (error) {
      problems.push({ part, why: `cannot be used: ${file} ${whyNot(error)}` });
      return null;
    }
  };
  const chain = read('cert', files.cert, certificatesIn);
  const key = read('key', files.key, (pem) => createPrivateKey(pem));
  const authorities = files.ca === null ? null : read('ca', files.ca, certificatesIn);
  const [own] = chain ?? [];
  if (chain === null || own === undefined) return problems;
  problems.push(...wrongTime(own, now), ...wrongNames(own, bus.servers));
  if (key !== null && !isPair(own, key)) problems.push({ part: 'key', why: 'is not the key of bus.public.tls.cert' });
  if (authorities !== null && !isVouchedFor(chain, authorities)) {
    problems.push({ part: 'ca', why: 'does not vouch for bus.public.tls.cert' });
  }
  return problems;
}

function certificatesIn(pem: string): readonly X509Certificate[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  if (blocks.length === 0) throw new Error('holds no certificate');
  return blocks.map((block) => new X509Certificate(block));
}

function whyNot(error: unknown): string {
  if (!(error instanceof Error)) return 'cannot be read';
  if ('code' in error && error.code === 'ENOENT') return 'is not there';
  if ('code' in error && error.code === 'EACCES') return 'may not be read by this user';
  return error.message === 'holds no certificate' ? error.message : 'is no PEM file of that kind';
}

function wrongTime({ validFromDate, validToDate }: X509Certificate, now: Date): CertificateProblem[] {
  if (now > validToDate) return [{ part: 'cert', why: `has expired on ${validToDate.toISOString()}` }];
  return now < validFromDate ? [{ part: 'cert', why: `is not valid before ${validFromDate.toISOString()}` }] : [];
}

function wrongNames(own: X509Certificate, servers: readonly string[]): CertificateProblem[] {
  return servers
    .map(hostOf)
    .filter((host) => (isIP(host) === 0 ? own.checkHost(host) : own.checkIP(host)) === undefined)
    .map((host) => ({ part: 'cert', why: `is not for "${host}", which bus.public.servers names` }));
}

function isPair(own: X509Certificate, key: KeyObject): boolean {
  return own.checkPrivateKey(key);
}

/** From the certificate upward through those that come with it, until an authority has issued one. */
function isVouchedFor(chain: readonly X509Certificate[], authorities: readonly X509Certificate[]): boolean {
  const seen = new Set<X509Certificate>();
  for (let current = chain[0]; current !== undefined && !seen.has(current); ) {
    const certificate: X509Certificate = current;
    seen.add(certificate);
    if (authorities.some((authority) => hasIssued(authority, certificate))) return true;
    current = chain.find((other) => hasIssued(other, certificate));
  }
  return false;
}

function hasIssued(issuer: X509Certificate, certificate: X509Certificate): boolean {
  return certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
}
