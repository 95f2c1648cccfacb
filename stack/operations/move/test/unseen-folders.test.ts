import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { planOf, readPlan } from '../../../engines/plan-of.ts';
import { secretFilesOf } from '../../../secrets/secrets.ts';
import { checkDefinition } from '../../../settings/check.ts';
import { down } from '../../down.ts';
import { openTrial } from '../../test/trial.ts';
import { up } from '../../up.ts';
import { findUnseenFolders } from '../unseen-folders.ts';
import { addMcpServer } from './trial.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const { env } = process;
let trial: Awaited<ReturnType<typeof openTrial>>;
beforeAll(async () => {
  trial = await openTrial();
});
afterAll(() => trial?.[Symbol.asyncDispose]());

const lookedAt = async (isUp: boolean, side = 'engine: docker', allowed = '[/srv/documents]') => {
  const text = `id: abcdefghijklmnop\ntopology: distributed\n${side}\nruntime: { allowedPaths: ${allowed} }\n`;
  const to = planOf(trial.installation, checkDefinition(text, 'svc.yaml'));
  const { signal } = new AbortController();
  return await findUnseenFolders({ from: readPlan(trial.installation), to, isUp, env, signal });
};

test('folders that the container of the runtime would not see are named, while the platform runs and while not', async () => {
  const { installation } = trial;
  expect(await lookedAt(false)).toEqual([]);
  await up({ installation, env });
  const launches = {
    elsewhere: { command: 'node', args: ['--version'], cwd: '/srv/elsewhere' },
    beside: { command: 'node', args: ['--version'], cwd: '/srv/documents-2' },
    below: { command: 'node', args: ['--version'], cwd: '/srv/documents/of/team' },
    remote: { url: 'http://127.0.0.1:9' },
  };
  for (const [name, launch] of Object.entries(launches)) await addMcpServer(installation, { name, launch });
  const unseen = [
    { mcpServer: 'elsewhere', folder: '/srv/elsewhere' },
    { mcpServer: 'beside', folder: '/srv/documents-2' },
  ];
  expect(await lookedAt(true)).toEqual(unseen);
  await down({ installation });
  expect(await lookedAt(false)).toEqual(unseen);
  expect(await lookedAt(false, 'engine: docker', '[/srv]')).toEqual([]);
  expect(await lookedAt(false, 'engine: process')).toEqual([]);
});

test('unreadable folders are reported, with no other consequence', async () => {
  writeFileSync(secretFilesOf(trial.installation).encryptionKey, 'cd'.repeat(32));
  expect(await lookedAt(false)).toBeNull();
});
