import { access } from 'node:fs/promises';
import path from 'node:path';

/** What programs need of the system, where it is there: themselves, what they are linked with, names, time and whom to trust. */
export const systemPaths: readonly string[] = [
  ...['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/nix/store'],
  ...['resolv.conf', 'hosts', 'host.conf', 'nsswitch.conf', 'gai.conf', 'services', 'protocols'].map(inEtc),
  ...['passwd', 'group', 'localtime', 'timezone', 'os-release', 'mime.types', 'fonts'].map(inEtc),
  ...['ssl/certs', 'ssl/openssl.cnf', 'ssl/cert.pem', 'ca-certificates', 'pki/tls', 'pki/ca-trust'].map(inEtc),
  ...['ld.so.cache', 'ld.so.conf', 'ld.so.conf.d', 'alternatives', 'crypto-policies'].map(inEtc),
  // What a new /proc says of the whole machine: root may write there without any capability, to settings of the kernel too.
  ...['acpi', 'asound', 'bus', 'driver', 'fs', 'irq', 'latency_stats', 'mtrr'].map(inProc),
  ...['pressure', 'scsi', 'sys', 'sysrq-trigger'].map(inProc),
];

/** What no person may have meant to share: the system, and the sockets of what runs on it. */
export const neverWritable: readonly string[] = ['/proc', '/sys', '/dev', '/run', '/usr', '/etc', '/bin', '/lib'];

/** What the folders that PATH names need beside them. */
export async function programPaths(searchPath: string): Promise<readonly string[]> {
  const folders = [...new Set(searchPath.split(':'))].filter(
    (one) => path.isAbsolute(one) && path.resolve(one) !== '/',
  );
  return (await Promise.all(folders.map(withSurroundings))).flat();
}

async function withSurroundings(folder: string): Promise<readonly string[]> {
  const above = path.dirname(path.resolve(folder));
  // Its programs are links to files of the packages there.
  if (path.basename(folder) === '.bin') return [above];
  // A virtual environment of Python.
  if (await exists(path.join(above, 'pyvenv.cfg'))) return [above];
  // npm and npx themselves, and what is installed with --global.
  return [folder, path.join(above, 'lib', 'node_modules')];
}

/** Files and folders of authorities that the person who runs the runtime wants to be trusted. */
export function authorityPaths(inherited: Readonly<Record<string, string>>): readonly string[] {
  return ['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR', 'REQUESTS_CA_BUNDLE', 'CURL_CA_BUNDLE']
    .flatMap((name) => inherited[name]?.split(':') ?? [])
    .filter((one) => path.isAbsolute(one));
}

async function exists(file: string): Promise<boolean> {
  return await access(file).then(
    () => true,
    () => false,
  );
}

function inEtc(name: string): string {
  return `/etc/${name}`;
}

function inProc(name: string): string {
  return `/proc/${name}`;
}
