import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { processesAreShown } from '../test/running-processes.ts';
import { startTimeOf } from './process-identity.ts';
import { markedProcesses, markOf } from './process-mark.ts';

const id = `test${process.pid}`.padEnd(8, '0');

/** A process that runs until the test ends. */
async function run(env: Readonly<Record<string, string>>, uid = process.getuid?.()): Promise<ChildProcess> {
  const program = ['-e', 'console.log("up"); setInterval(() => {}, 1000)', `SVC_INSTALLATION=${id}/argument`];
  const child = spawn(process.execPath, program, { env, stdio: ['ignore', 'pipe', 'ignore'], cwd: '/', uid });
  onTestFinished(() => void child.kill('SIGKILL'));
  // Linux does not show the variables of a process in the first moment after its start.
  if (child.stdout !== null) await once(child.stdout, 'data');
  return child;
}

const found = () => markedProcesses().filter((one) => one.id === id);

test.skipIf(!processesAreShown)('a process is found by the mark in its environment, and by nothing else', async () => {
  const { pid = 0 } = await run({ FIRST: 'x', ...markOf(id, 'remote-mcp-2'), LAST: 'y' });
  await run({});
  await run({ OTHER: `SVC_INSTALLATION=${id}/value`, MY_SVC_INSTALLATION: `${id}/ending` });
  await run({ SVC_INSTALLATION: `${id}/NOT A PART` });
  await run({ SVC_INSTALLATION: `${id}0/part` });
  const process = { pid, startTime: startTimeOf(pid) };
  expect(found()).toEqual([{ id, part: 'remote-mcp-2', process, dir: '/' }]);
});

test.skipIf(!processesAreShown || process.geteuid?.() !== 0)(
  'a process of another user has no mark for root, who can read its environment',
  async () => {
    await run(markOf(id, 'backend'), 65_534);
    expect(found()).toEqual([]);
  },
);
