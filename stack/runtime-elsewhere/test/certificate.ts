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

/** Like `makeCertificate`, with dates of its own. */
export function makeDatedCertificate(folder: string, name: string, { names, years }: DatedOptions): void {
  openssl(
    folder,
    'req',
    ...newKey(`${name}.key`),
    '-out',
    `${name}.csr`,
    '-subj',
    `/CN=${name}`,
    '-addext',
    `subjectAltName=${names}`,
  );
  const authority = ['[ca]', 'default_ca = own', '[own]', 'database = index', 'new_certs_dir = .', 'rand_serial = yes'];
  const rules = ['default_md = sha256', 'policy = names', 'copy_extensions = copy', '[names]', 'commonName = supplied'];
  writeFileSync(join(folder, 'authority'), [...authority, ...rules, ''].join('\n'));
  writeFileSync(join(folder, 'index'), '');
  const dates = ['-startdate', `${years[0]}0101000000Z`, '-enddate', `${years[1]}0101000000Z`];
  const files = ['-keyfile', `${name}.key`, '-in', `${name}.csr`, '-out', `${name}.pem`];
  openssl(folder, 'ca', '-selfsign', '-batch', '-notext', '-config', 'authority', ...files, ...dates);
}

interface DatedOptions {
  readonly names: string;
  /** Valid from the first day of the first year to that of the second. */
  readonly years: readonly [from: number, to: number];
}

function openssl(folder: string, ...args: readonly string[]): void {
  execFileSync('openssl', args, { cwd: folder, stdio: 'ignore' });
}
