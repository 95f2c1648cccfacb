import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { SvcError } from '../../services/contracts/errors.ts';
import { findProgram } from './find-program.ts';

/** A program of somebody else's that parts of a platform run as. */
export interface NeededProgram {
  readonly name: string;
  /** What in svc.yaml asks for it. */
  readonly neededBy: string;
  /** The oldest version that does all that is asked of it: major and minor. */
  readonly oldest: string;
  /** The arguments that it tells its version for. */
  readonly askVersion: readonly string[];
  readonly howToInstall: string;
  /** Whether what it says is new enough; default: what is a version of at least `oldest`. */
  readonly isTaken?: (version: string | null) => boolean;
}

export interface FoundProgram {
  readonly program: string;
  readonly version: string | null;
}

const askTimeoutMs = 10_000;

/** Throws where it is not on the path, or too old. */
export async function checkProgram(needed: NeededProgram, path: string | undefined): Promise<FoundProgram> {
  const { name, neededBy, oldest, askVersion, howToInstall: hint } = needed;
  const { isTaken = (version) => isVersion(version, oldest) } = needed;
  const program = findProgram(name, path);
  if (program === null) {
    throw new SvcError('unavailable', `${neededBy} needs ${name}, and there is none on the path.`, { hint });
  }
  const version = await versionOf(program, askVersion);
  if (isTaken(version)) return { program, version };
  throw new SvcError(
    'unsupported',
    `"${program}" is of version ${version ?? 'unknown'}, and ${oldest} or newer is needed.`,
    { hint },
  );
}

/** Whether it is that old or younger. */
export function isVersion(version: string | null, oldest: string): boolean {
  const [major = 0, minor = 0] = (version ?? '').split('.').map(Number);
  const [oldestMajor = 0, oldestMinor = 0] = oldest.split('.').map(Number);
  return major > oldestMajor || (major === oldestMajor && minor >= oldestMinor);
}

/** Null where it does not say; "dev" is what a Go program says that was built from source. */
/** The version in the tag of an image. */
export function versionInImage(image: string): string | null {
  return /:v?(\d+\.\d+[^@]*)/.exec(image)?.[1] ?? null;
}

export async function versionOf(program: string, askVersion: readonly string[]): Promise<string | null> {
  try {
    const { stdout } = await promisify(execFile)(program, [...askVersion], { timeout: askTimeoutMs });
    return /\bv?(\d+\.\d+\.\d+\S*)/.exec(stdout)?.[1] ?? /: (dev)$/m.exec(stdout)?.[1] ?? null;
  } catch {
    return null;
  }
}
