import { homedir } from 'node:os';
import path from 'node:path';
import { findReal, isWithin } from './view.ts';

/** What programs need of the system, where it is there: themselves, what they are linked with, names, time and whom to trust. */
export const systemPaths: readonly string[] = [
  ...['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/nix/store'],
  ...['resolv.conf', 'hosts', 'host.conf', 'nsswitch.conf', 'gai.conf', 'services', 'protocols'].map(inEtc),
  ...['passwd', 'group', 'localtime', 'timezone', 'os-release', 'mime.types', 'fonts'].map(inEtc),
  ...['ssl/certs', 'ssl/openssl.cnf', 'ssl/cert.pem', 'ca-certificates', 'pki/tls', 'pki/ca-trust'].map(inEtc),
  ...['ld.so.cache', 'ld.so.conf', 'ld.so.conf.d', 'alternatives', 'crypto-policies'].map(inEtc),
];

/** What a new /proc says of the whole machine: root may write there without any capability, to settings of the kernel too. */
export const machineInProc: readonly string[] = [
  ...['acpi', 'asound', 'bus', 'driver', 'fs', 'irq', 'latency_stats', 'mtrr'].map(inProc),
  ...['pressure', 'scsi', 'sys', 'sysrq-trigger'].map(inProc),
];

/** The folders that PATH names, with what the programs in them are made of. */
export async function programPaths(searchPath: string): Promise<readonly string[]> {
  const folders = [...new Set(searchPath.split(':'))].filter((one) => path.isAbsolute(one));
  return (await Promise.all(folders.map(withSurroundings))).flat();
}

/** A command as it was named, and what it is made of where that lies elsewhere: on the PATH there are often links only. */
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
  // Whoever has a home, or all of the machine, on the PATH means the programs that lie there, and not all else.
  if (real === null || isWithin(homedir(), real)) return [];
  return [folder, ...(await surroundingsOf(real))];
}

async function surroundingsOf(folder: string): Promise<readonly string[]> {
  const above = path.dirname(folder);
  const name = path.basename(folder);
  // Links to files of the packages there.
  if (name === '.bin' && path.basename(above) === 'node_modules') return [above];
  // A virtual environment of Python, or what chooses among versions of it.
  if (name === 'shims' || (await findReal(path.join(above, 'pyvenv.cfg'))) !== null) return [above];
  // npm and npx themselves, and what is installed with --global.
  return [path.join(above, 'lib', 'node_modules')];
}

/** Files and folders of authorities that the person who runs the runtime wants to be trusted. */
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
