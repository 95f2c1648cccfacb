import { existsSync } from 'node:fs';
import { givenDirOf } from '../../../engines/docker/given-files.ts';
import { installationIn } from '../../../state/installation.ts';
import { readAlone } from '../../../state/left-processes.ts';
import { undoReplacement } from '../../replace/end-replacement.ts';
import type { ReplaceProgress } from '../../replace/replace.ts';
import { move } from '../move.ts';

/** `svc move` as a process that prints its steps, and kills itself at a step, or at the name of a part: as soon as it has started that, or given it files. */
const [verb, dir = '', to = '{}', step] = process.argv.slice(2);
const installation = installationIn(dir);
const die = () => process.kill(process.pid, 'SIGKILL');
const isBorn = () =>
  readAlone(installation).some(({ name }) => name === step) ||
  (step !== undefined && existsSync(givenDirOf(installation, step)));
setInterval(() => isBorn() && die(), 1).unref();
const options = {
  installation,
  env: process.env,
  onProgress: (progress: ReplaceProgress) => {
    if (progress.kind !== 'step') return;
    if (progress.step === step) die();
    process.stdout.write(`${progress.step}\n`);
  },
  confirm: async () => undefined,
};
if (verb === 'undo') await undoReplacement({ ...options, command: 'move' }, options.confirm);
else await move({ ...options, to: JSON.parse(to) });
