import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { pidOf } from '../../stack/operations/test/installed.ts';
import { openTrial, type Trial } from '../../stack/operations/test/trial.ts';
import { runSvc } from './run-svc.ts';

vi.setConfig({ testTimeout: 60_000 });

/** Runs a command of this installation, with code that Node loads before it. */
function run({ installation: { dir: cwd } }: Trial, args: readonly string[], before: string) {
  const file = join(cwd, 'before.cjs');
  writeFileSync(file, before);
  return runSvc(args, { cwd, env: { NODE_OPTIONS: `--require=${file}` } });
}

const interruptSelf = `process.kill(process.pid, 'SIGINT')`;
const atSpawn = `
  const all = require('node:child_process');
  const { spawn } = all;
  all.spawn = (...args) => { const child = spawn(...args); ${interruptSelf}; return child; };
  require('node:module').syncBuiltinESMExports();`;
const whileLoading = `process.on('newListener', (name) => { if (name === 'svcPhase') ${interruptSelf}; });`;
/** The first signal that the command sends is the one that stops the platform. */
const atStop = `
  const { kill } = process;
  process.kill = (pid, signal) => { if (signal === 'SIGTERM') kill.call(process, process.pid, 'SIGINT'); };`;

const nothing = { code: 'cancelled', message: 'Interrupted. Nothing is left running.', hint: 'Start it: svc up' };

test('Ctrl-C during svc up, svc restart and svc down says what runs, also as JSON', async () => {
  await using trial = await openTrial();
  const asJson = await run(trial, ['up', '--json'], atSpawn);
  expect([asJson.code, JSON.parse(asJson.stdout)]).toEqual([130, { error: nothing }]);
  const asText = await run(trial, ['up'], atSpawn);
  expect([asText.code, asText.stdout]).toEqual([130, '']);
  expect(asText.stderr).toMatch(new RegExp(`(^|\n)${nothing.message}\n${nothing.hint}\n$`));
  await trial.up();
  const before = pidOf(trial.installation);
  const stop = await run(trial, ['down'], atStop);
  const stillStopping = 'Interrupted. The platform is still stopping.\nSee it: svc status\n';
  expect([stop.code, stop.stderr, pidOf(trial.installation)]).toEqual([130, stillStopping, before]);
  const restart = await run(trial, ['restart'], atSpawn);
  expect([restart.code, restart.stderr]).toEqual([130, expect.stringContaining(nothing.message)]);
  expect((await trial.status()).state).toBe('stopped');
});

test('Ctrl-C while the command still loads says that nothing was changed', async () => {
  await using trial = await openTrial();
  const message = 'Interrupted before the command began. Nothing was changed.';
  const asText = await run(trial, ['up'], whileLoading);
  expect([asText.code, asText.stdout, asText.stderr]).toEqual([130, '', `${message}\n`]);
  const { code, stdout, stderr } = await run(trial, ['up', '--json'], whileLoading);
  expect([code, JSON.parse(stdout), stderr]).toEqual([130, { error: { code: 'cancelled', message } }, '']);
});
