import { execFileSync } from 'node:child_process';

/** Makes `NAME.pem` and `NAME.key` in the folder: a certificate for these names (`IP:…`, `DNS:…`) that vouches for itself. */
export function makeCertificate(folder: string, name: string, names: string): void {
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', `${name}.key`];
  const about = ['-days', '30', '-subj', `/CN=${name}`, '-addext', `subjectAltName=${names}`];
  execFileSync('openssl', ['req', '-x509', ...key, '-out', `${name}.pem`, ...about], { cwd: folder, stdio: 'ignore' });
}
