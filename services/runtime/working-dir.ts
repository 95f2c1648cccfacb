import { chmod, mkdir, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { SvcError } from '../contracts/errors.ts';

/**
 * Prepares SVC_WORKING_DIR: for this user only, because it contains the homes of MCP servers, and tested for writing
 * before anything depends on it. Its default is in /tmp, where another user may have created it first.
 */
export async function prepareWorkingDir(folder: string): Promise<string> {
  const absolute = path.resolve(folder);
  try {
    await makeFolder(absolute);
    const { uid } = await stat(absolute);
    const own = process.getuid?.() ?? uid;
    if (own !== 0 && uid !== own) throw unusable(absolute, 'belongs to another user');
    if (uid === own) await chmod(absolute, 0o700);
    const probe = path.join(absolute, `.writable-${process.pid}`);
    await writeFile(probe, '', { mode: 0o600 });
    await rm(probe);
    return absolute;
  } catch (error) {
    if (error instanceof SvcError) throw error;
    throw unusable(absolute, `is not writable (${codeOf(error)})`, error);
  }
}

/** One level at a time: a recursive mkdir loops forever in a folder without write support (/proc). */
async function makeFolder(folder: string): Promise<void> {
  const made = await tryToMake(folder);
  if (made !== 'ENOENT') return;
  await makeFolder(path.dirname(folder));
  await mkdir(folder, { mode: 0o700 });
}

async function tryToMake(folder: string): Promise<string | null> {
  try {
    await mkdir(folder, { mode: 0o700 });
    return null;
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT' || code === 'EEXIST') return code;
    throw error;
  }
}

function unusable(folder: string, why: string, cause?: unknown): SvcError {
  return new SvcError('invalid_input', `SVC_WORKING_DIR "${folder}" ${why}.`, {
    hint: 'Set SVC_WORKING_DIR to a folder that the user of the runtime may write to.',
    cause,
  });
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
}
