import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { refusedValidity } from '../../services/contracts/clocks.ts';

export interface TlsFiles {
  readonly cert: string;
  readonly key: string;
  /** The authority of `cert`, if it is not one of the system's. */
  readonly ca: string | null;
}

export function tlsFilesIn(dir: string, { cert, key, ca }: TlsFiles): TlsFiles {
  return { cert: resolve(dir, cert), key: resolve(dir, key), ca: ca === null ? null : resolve(dir, ca) };
}

export interface CertificateOf {
  readonly files: TlsFiles;
  /** The names that the certificate must cover, and the field that lists them. */
  readonly hosts: readonly string[];
  readonly hostsPlace: string;
}

export interface CertificateProblem {
  readonly part: keyof TlsFiles;
  /** In words that follow its name. */
  readonly why: string;
}

/** Checks the files, that they match, their dates and names. */
export function certificateProblems(of: CertificateOf, now = new Date()): readonly CertificateProblem[] {
  const { files } = of;
  const problems: CertificateProblem[] = [];
  const chain = read('cert', files.cert, { parse: certificatesIn, problems });
  const key = read('key', files.key, { parse: (pem) => createPrivateKey(pem), problems });
  const authorities = files.ca === null ? null : read('ca', files.ca, { parse: certificatesIn, problems });
  const [own] = chain ?? [];
  if (chain === null || own === undefined) return problems;
  problems.push(...wrongTime(own, now), ...wrongNames(own, of));
  if (key !== null && !own.checkPrivateKey(key))
    problems.push({ part: 'key', why: 'is not the key of the certificate' });
  if (authorities !== null && !isVouchedFor(chain, authorities)) {
    problems.push({ part: 'ca', why: 'did not sign the certificate' });
  }
  return problems;
}

/** As `certificateProblems`, for the file of an authority. */
export function authorityProblems(file: string): readonly CertificateProblem[] {
  const problems: CertificateProblem[] = [];
  read('ca', file, { parse: certificatesIn, problems });
  return problems;
}

function read<Value>(
  part: keyof TlsFiles,
  file: string,
  { parse, problems }: { parse: (pem: string) => Value; problems: CertificateProblem[] },
): Value | null {
  try {
    return parse(readFileSync(file, 'utf8'));
  } catch (error) {
    problems.push({ part, why: `cannot be used: ${file} ${whyNot(error)}` });
    return null;
  }
}

function certificatesIn(pem: string): readonly X509Certificate[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  if (blocks.length === 0) throw new Error('holds no certificate');
  return blocks.map((block) => new X509Certificate(block));
}

function whyNot(error: unknown): string {
  if (!(error instanceof Error)) return 'cannot be read';
  if ('code' in error && error.code === 'ENOENT') return 'does not exist';
  if ('code' in error && error.code === 'EACCES') return 'is not readable for this user';
  return error.message === 'holds no certificate' ? error.message : 'is not a PEM file of that kind';
}

function wrongTime({ validFromDate, validToDate }: X509Certificate, now: Date): CertificateProblem[] {
  const why = refusedValidity({ fromMs: validFromDate.getTime(), toMs: validToDate.getTime() }, now.getTime());
  return why === null ? [] : [{ part: 'cert', why }];
}

function wrongNames(own: X509Certificate, { hosts, hostsPlace }: CertificateOf): CertificateProblem[] {
  return hosts
    .filter((host) => (isIP(host) === 0 ? own.checkHost(host) : own.checkIP(host)) === undefined)
    .map((host) => ({ part: 'cert', why: `is not for "${host}", which ${hostsPlace} names` }));
}

/** Follows the chain from the certificate upward to an authority that issued one of its links. */
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
