import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { SvcError } from '../services/contracts/errors.ts';
import { findProgram } from './find-program.ts';

export interface Oldest {
  readonly major: number;
  readonly minor: number;
}

/** A program of somebody else's that parts of a platform run as. */
export interface NeededProgram {
  readonly name: string;
  /** What in svc.yaml asks for it. */
  readonly neededBy: string;
  /** The oldest that does all that is asked of it. */
  readonly oldest: Oldest;
  /** The arguments that it tells its version for. */
  readonly askVersion: readonly string[];
  readonly howToInstall: string;
}

const askTimeoutMs = 10_000;

/** Throws where it is not on the path, or too old. */
export async function checkProgram(needed: NeededProgram, path: string | undefined): Promise<void> {
  const { name, neededBy, oldest, askVersion, howToInstall: hint } = needed;
  const program = findProgram(name, path);
  if (program === null) {
    throw new SvcError('unavailable', `${neededBy} needs ${name}, and there is none on the path.`, { hint });
  }
  const version = await versionOf(program, askVersion);
  if (isVersion(version, oldest)) return;
  throw new SvcError(
    'unsupported',
    `"${program}" is of version ${version ?? 'unknown'}, and ${oldest.major}.${oldest.minor} or newer is needed.`,
    { hint },
  );
}

/** Whether it is that old or younger. */
export function isVersion(version: string | null, oldest: Oldest): boolean {
  const [major = 0, minor = 0] = (version ?? '').split('.').map(Number);
  return major > oldest.major || (major === oldest.major && minor >= oldest.minor);
}

/** Null where it does not say. */
async function versionOf(program: string, askVersion: readonly string[]): Promise<string | null> {
  try {
    const { stdout } = await promisify(execFile)(program, [...askVersion], { timeout: askTimeoutMs });
    return /\bv?(\d+\.\d+\.\d+\S*)/.exec(stdout)?.[1] ?? null;
  } catch {
    return null;
  }
}
