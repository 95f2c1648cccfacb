import { existsSync } from 'node:fs';
import { givenDirOf } from '../../../engines/docker/given-files.ts';
import { installationIn } from '../../../state/installation.ts';
import { undoMove } from '../end-move.ts';
import { type MoveProgress, move } from '../move.ts';
import { readMove } from '../move-state.ts';

/** `svc move` as a process that kills itself at a step, or at the name of a part: as soon as it has started that, or given it files. */
const [verb, dir = '', to = '{}', step] = process.argv.slice(2);
const installation = installationIn(dir);
const die = () => process.kill(process.pid, 'SIGKILL');
const isBorn = () =>
  readMove(installation)?.processes.some(({ name }) => name === step) ||
  (step !== undefined && existsSync(givenDirOf(installation, step)));
setInterval(() => isBorn() && die(), 1).unref();
const options = {
  installation,
  env: process.env,
  onProgress: (progress: MoveProgress) => {
    if (progress.kind === 'step' && progress.step === step) die();
  },
  confirm: async () => undefined,
};
if (verb === 'undo') await undoMove(options, options.confirm);
else await move({ ...options, to: JSON.parse(to) });
