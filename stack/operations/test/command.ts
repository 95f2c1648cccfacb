import { existsSync } from 'node:fs';
import { givenDirOf } from '../../engines/docker/given-files.ts';
import { installationIn } from '../../state/installation.ts';
import { readAlone } from '../../state/left-processes.ts';
import type { ReplaceProgress } from '../replace/replace.ts';
import { readReplacement } from '../replace/replacement.ts';
import { up } from '../up.ts';

/**
 * Runs the operation of a command, without its command line, in a process that a test can kill. It prints its steps,
 * and kills itself at the given moment.
 */
const [verb, dir = '', to = '{}', ...moment] = process.argv.slice(2);
const installation = installationIn(dir);
const stopping = new AbortController();
process.on('SIGTERM', () => stopping.abort());
const { signal } = stopping;
let step = '';

/** Whether the command or its record is at this step, or the command started a part of this name or gave it files. */
const isReached = (word: string) =>
  step === word ||
  readReplacement(installation)?.step === word ||
  readAlone(installation).some(({ name }) => name === word) ||
  existsSync(givenDirOf(installation, word));

function dieInTime(): void {
  if (moment.length > 0 && moment.every(isReached)) process.kill(process.pid, 'SIGKILL');
}
setInterval(dieInTime, 1).unref();

function onProgress(progress: ReplaceProgress): void {
  if (progress.kind !== 'step') return;
  step = progress.step;
  dieInTime();
  process.stdout.write(`${step}\n`);
}

const { env } = process;
const confirm = async () => undefined;
if (verb === 'move') {
  const { move } = await import('../move/move.ts');
  await move({ installation, to: JSON.parse(to), env, signal, onProgress, confirm });
} else if (verb === 'undo') {
  const { undoReplacement } = await import('../replace/end-replacement.ts');
  await undoReplacement({ installation, env, signal, onProgress, command: 'move' }, confirm);
} else if (verb === 'down') {
  const { down } = await import('../down.ts');
  await down({ installation, signal });
} else {
  await up({ installation, env, signal, foreground: verb === 'foreground' });
}
