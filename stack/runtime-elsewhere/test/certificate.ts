import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

const newKey = (name: string) => ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', name];

/**
 * Makes `NAME.pem` and `NAME.key` in the folder: a self-signed certificate for these names (`IP:…`, `DNS:…`). Without
 * names it makes an authority.
 */
export function makeCertificate(folder: string, name: string, names?: string): void {
  const about = ['-days', '30', '-subj', `/CN=${name}`];
  if (names !== undefined) about.push('-addext', `subjectAltName=${names}`);
  openssl(folder, 'req', '-x509', ...newKey(`${name}.key`), '-out', `${name}.pem`, ...about);
}

/** Like `makeCertificate`, but an authority in the same folder signs the certificate. */
export function issueCertificate(folder: string, name: string, { names, by }: { names: string; by: string }): void {
  openssl(folder, 'req', ...newKey(`${name}.key`), '-out', `${name}.csr`, '-subj', `/CN=${name}`);
  writeFileSync(join(folder, 'names'), `subjectAltName=${names}`);
  const issuer = ['-CA', `${by}.pem`, '-CAkey', `${by}.key`, '-CAcreateserial'];
  const request = ['-in', `${name}.csr`, '-extfile', 'names'];
  openssl(folder, 'x509', '-req', ...request, ...issuer, '-out', `${name}.pem`, '-days', '30');
}

function openssl(folder: string, ...args: readonly string[]): void {
  execFileSync('openssl', args, { cwd: folder, stdio: 'ignore' });
}
