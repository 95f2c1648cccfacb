import { SvcError } from '../../services/contracts/errors.ts';
import { askProgram } from './ask-program.ts';
import { findProgram } from './find-program.ts';

/** A program of others that a platform runs. */
export interface NeededProgram {
  /** Its name on PATH. */
  readonly command: string;
  /** The setting of svc.yaml that needs it. */
  readonly neededBy: string;
  /** The oldest supported version: major and minor. */
  readonly oldest: string;
  /** Arguments that print its version. */
  readonly askVersion: readonly string[];
  readonly howToInstall: string;
  /** Whether a build from source is accepted, although it states no version. */
  readonly mayBeUnversioned?: boolean;
}

/** The version that a program built from source prints; its age is unknown. */
export const builtFromSource = 'dev';

const askTimeoutMs = 10_000;

/** Throws when it is not on PATH, or too old. Returns what the operator should know about it. */
export async function checkProgram(needed: NeededProgram, path: string | undefined): Promise<readonly string[]> {
  const { command, neededBy, oldest, askVersion, howToInstall: hint, mayBeUnversioned } = needed;
  const program = findProgram(command, path);
  if (program === null) {
    throw new SvcError('unavailable', `${neededBy} needs ${command}, which is not on PATH.`, { hint });
  }
  const version = await versionOf(program, askVersion);
  if (mayBeUnversioned && version === builtFromSource) {
    return [`"${program}" was built from source and states no version, so it counts as ${oldest}.`];
  }
  if (isVersion(version, oldest)) return [];
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
