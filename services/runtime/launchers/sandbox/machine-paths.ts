import { homedir } from 'node:os';
import path from 'node:path';
import { findReal, isWithin } from './view.ts';

/**
 * Paths of the system that programs need, if they exist: themselves, libraries, names, time and certificate
 * authorities.
 */
export const systemPaths: readonly string[] = [
  ...['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/nix/store'],
  ...['resolv.conf', 'hosts', 'host.conf', 'nsswitch.conf', 'gai.conf', 'services', 'protocols'].map(inEtc),
  ...['passwd', 'group', 'localtime', 'timezone', 'os-release', 'mime.types', 'fonts'].map(inEtc),
  ...['ssl/certs', 'ssl/openssl.cnf', 'ssl/cert.pem', 'ca-certificates', 'pki/tls', 'pki/ca-trust'].map(inEtc),
  ...['ld.so.cache', 'ld.so.conf', 'ld.so.conf.d', 'alternatives', 'crypto-policies'].map(inEtc),
];

/**
 * Parts of a new /proc about the whole machine: root may write there without any capability, to settings of the kernel
 * too.
 */
export const machineInProc: readonly string[] = [
  ...['acpi', 'asound', 'bus', 'driver', 'fs', 'irq', 'latency_stats', 'mtrr'].map(inProc),
  ...['pressure', 'scsi', 'sys', 'sysrq-trigger'].map(inProc),
];

/** The folders in PATH, with the packages of their programs. */
export async function programPaths(searchPath: string): Promise<readonly string[]> {
  const folders = [...new Set(searchPath.split(':'))].filter((one) => path.isAbsolute(one));
  return (await Promise.all(folders.map(withSurroundings))).flat();
}

/** A command as named, and its package if that is elsewhere: PATH often contains only links. */
export async function commandPaths(command: string, searchPath: string, cwd: string): Promise<readonly string[]> {
  const named = command.includes('/')
    ? [path.resolve(cwd, command)]
    : searchPath.split(':').map((folder) => path.join(folder, command));
  for (const one of named.filter(path.isAbsolute)) {
    const real = await findReal(one);
    if (real === null) continue;
    const [packages] = /^.*?\/node_modules(?=\/)/.exec(real) ?? [];
    return [one, ...(packages === undefined ? await surroundingsOf(path.dirname(real)) : [packages])];
  }
  return [];
}

async function withSurroundings(folder: string): Promise<readonly string[]> {
  const real = await findReal(folder);
  // A home, or the whole machine, may be on the PATH for its programs, so its other files are not shown.
  if (real === null || isWithin(homedir(), real)) return [];
  return [folder, ...(await surroundingsOf(real))];
}

async function surroundingsOf(folder: string): Promise<readonly string[]> {
  const above = path.dirname(folder);
  const name = path.basename(folder);
  // Links to files of the packages there.
  if (name === '.bin' && path.basename(above) === 'node_modules') return [above];
  // A virtual environment of Python, or shims that choose a version.
  if (name === 'shims' || (await findReal(path.join(above, 'pyvenv.cfg'))) !== null) return [above];
  // npm and npx themselves, and packages installed with --global.
  return [path.join(above, 'lib', 'node_modules')];
}

/** Files and folders of certificate authorities that the operator of the runtime trusts. */
export function authorityPaths(inherited: Readonly<Record<string, string>>): readonly string[] {
  return ['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR', 'REQUESTS_CA_BUNDLE', 'CURL_CA_BUNDLE']
    .flatMap((name) => inherited[name]?.split(':') ?? [])
    .filter((one) => path.isAbsolute(one));
}

function inEtc(name: string): string {
  return `/etc/${name}`;
}

function inProc(name: string): string {
  return `/proc/${name}`;
}
