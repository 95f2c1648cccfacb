import { SvcError } from '../../services/contracts/errors.ts';
import { askProgram } from './ask-program.ts';
import { findProgram } from './find-program.ts';

/** A foreign program that parts of a platform run as. */
export interface NeededProgram {
  readonly name: string;
  /** The setting of svc.yaml that needs it. */
  readonly neededBy: string;
  /** The oldest supported version: major and minor. */
  readonly oldest: string;
  readonly askVersion: readonly string[];
  readonly howToInstall: string;
  /** Whether its version is accepted; default: at least `oldest`. */
  readonly isTaken?: (version: string | null) => boolean;
}

const askTimeoutMs = 10_000;

/** Throws when it is not on PATH, or too old. */
export async function checkProgram(needed: NeededProgram, path: string | undefined) {
  const { name, neededBy, oldest, askVersion, howToInstall: hint } = needed;
  const { isTaken = (version) => isVersion(version, oldest) } = needed;
  const program = findProgram(name, path);
  if (program === null) {
    throw new SvcError('unavailable', `${neededBy} needs ${name}, which is not on PATH.`, { hint });
  }
  const version = await versionOf(program, askVersion);
  if (isTaken(version)) return { program, version };
  throw new SvcError(
    'unsupported',
    `"${program}" has version ${version ?? 'unknown'}, and ${oldest} or newer is needed.`,
    { hint },
  );
}

export function isVersion(version: string | null, oldest: string): boolean {
  const [major = 0, minor = 0] = (version ?? '').split('.').map(Number);
  const [oldestMajor = 0, oldestMinor = 0] = oldest.split('.').map(Number);
  return major > oldestMajor || (major === oldestMajor && minor >= oldestMinor);
}

export function versionInImage(image: string): string | null {
  return /:v?(\d+\.\d+[^@]*)/.exec(image)?.[1] ?? null;
}

/** The version that a program prints, or null. A Go program that was built from source prints "dev". */
export async function versionOf(program: string, askVersion: readonly string[]): Promise<string | null> {
  const { failed, stdout } = await askProgram(program, askVersion, { timeoutMs: askTimeoutMs });
  if (failed) return null;
  return /\bv?(\d+\.\d+\.\d+\S*)/.exec(stdout)?.[1] ?? /: (dev)$/m.exec(stdout)?.[1] ?? null;
}
