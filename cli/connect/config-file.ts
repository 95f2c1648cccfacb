import { chmodSync, chownSync, lstatSync, mkdirSync, realpathSync, type Stats, statSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { SvcError } from '../../services/contracts/errors.ts';
import { inWords } from '../../services/contracts/system-words.ts';
import { readBounded } from '../../stack/machine/bounded-file.ts';
import { writeDurably, writeIfAbsent } from '../../stack/state/durable-file.ts';

/** A configuration file of a client, as it was read. */
export interface ConfigFile {
  /** Where it really is: behind a link of a person's own folder. */
  readonly path: string;
  /** Empty when the file does not exist yet. */
  readonly text: string;
  readonly stat: Stats | null;
}

/** A hundred times the usual size. */
const configMaxBytes = 4 * 1024 * 1024;
/** A new file may be shared with a project; a file with a key is private. */
const usualMode = 0o644;
const privateMode = 0o600;

/** Reads a file that is about to be changed. `within` is the project's folder, which the file must not leave by a link. */
export function readConfigFile(path: string, within: string | null): ConfigFile {
  const real = realPathOf(path);
  if (within !== null && !real.startsWith(join(realpathSync(within), sep))) {
    throw new SvcError('unsupported', `"${path}" leads out of its project, to "${real}". Nothing was changed.`, {
      hint: 'A project may be foreign. Replace the link by a file.',
    });
  }
  const stat = statSync(real, { throwIfNoEntry: false }) ?? null;
  if (stat === null) return { path: real, text: '', stat };
  if (stat.isFile() && (stat.mode & 0o222) === 0) {
    throw new SvcError('invalid_input', `"${path}" is read-only. Nothing was changed.`, {
      hint: `Allow changes first: chmod u+w FILE`,
    });
  }
  return { path: real, text: readConfigText(real), stat };
}

export function readConfigText(path: string): string {
  return readBounded(path, { sizeMaxBytes: configMaxBytes, name: `"${path}"` }).toString('utf8');
}

/** The path behind all links. A missing file is in the real folder of its path. */
function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) {
      throw new SvcError('invalid_input', `"${path}" is a link without a destination. Nothing was changed.`, {
        hint: 'Remove the link, or create its destination.',
        cause: error,
      });
    }
    const folder = dirname(path);
    return folder === path ? path : join(realPathOf(folder), path.slice(folder.length).replace(/^\/+/, ''));
  }
}

export interface Replacement {
  readonly text: string;
  /** A text with a key gets a file that only its owner can read. */
  readonly holdsKey: boolean;
  /** For the name of the backup. */
  readonly now: Date;
}

/** Replaces the file atomically, keeps its mode and owner, and returns the path of the backup; null for a new file. */
export function replaceConfigFile({ path, text, stat }: ConfigFile, replacement: Replacement): string | null {
  try {
    mkdirSync(dirname(path), { recursive: true });
    const mode = replacement.holdsKey ? privateMode : (stat?.mode ?? usualMode) & 0o777;
    if (stat === null) {
      if (!writeIfAbsent(path, replacement.text, mode)) throw changedMeanwhile(path);
      return null;
    }
    if (readConfigText(path) !== text) throw changedMeanwhile(path);
    const backup = `${path}.${replacement.now.toISOString().replaceAll(':', '-').replace('Z', '')}.backup`;
    if (!writeIfAbsent(backup, text, replacement.holdsKey ? privateMode : mode)) throw changedMeanwhile(backup);
    writeDurably(path, replacement.text, mode);
    // The process's own mask and user do not decide about a person's file.
    chmodSync(path, mode);
    for (const file of [path, backup]) if (statSync(file).uid !== stat.uid) chownSync(file, stat.uid, stat.gid);
    return backup;
  } catch (error) {
    if (error instanceof SvcError) throw error;
    throw new SvcError('invalid_input', `"${path}" cannot be written: ${inWords(error)}.`, { cause: error });
  }
}

function changedMeanwhile(path: string): SvcError {
  return new SvcError('conflict', `"${path}" was changed meanwhile, and is unchanged by svc.`, {
    hint: 'Repeat the command.',
  });
}
