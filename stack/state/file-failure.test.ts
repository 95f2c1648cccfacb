import { chmodSync, chownSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { toSvcError } from '../../services/contracts/errors.ts';
import { readLogs } from '../logs/read-logs.ts';
import { createInstallation } from '../operations/create-installation.ts';
import { down } from '../operations/down.ts';
import { status } from '../operations/status.ts';
import { up } from '../operations/up.ts';
import { folderOfEachTest } from '../test/folder-of-each-test.ts';
import { fileFailure } from './file-failure.ts';
import type { Installation } from './installation.ts';

const dir = folderOfEachTest();
/** The tests need a user without root's rights, so root becomes another user for a moment. */
const own = process.geteuid?.() ?? 0;
const person = own === 0 ? 65_534 : own;

beforeEach(() => {
  if (own === 0) chownSync(dir(), person, person);
});

async function readAll(installation: Installation): Promise<void> {
  const all = { services: [], since: null, level: 'trace', request: null, lines: 10, follow: false } as const;
  for await (const _ of readLogs({ installation, ...all, signal: new AbortController().signal }));
}

/** The error that this work reports to that user. */
async function refusal(work: () => unknown) {
  process.seteuid?.(person);
  try {
    await work();
  } catch (error) {
    // The outlets convert errors in the same way.
    return fileFailure(error) ?? error;
  } finally {
    process.seteuid?.(own);
  }
  throw new Error('nothing was refused');
}

const creating = (path: string) => refusal(() => createInstallation({ dir: path }));

test("a folder in another user's", async () => {
  expect(await creating('/svc-test/svc')).toMatchObject({
    code: 'forbidden',
    message: expect.stringMatching(/^"\/svc-test" may not be used by \S+: "\/" belongs to root\.$/),
    hint: 'Run the command as root, or choose your own folder with --dir.',
  });
  expect(existsSync('/svc-test')).toBe(false);
});

test('your own folder without permissions', async () => {
  chmodSync(dir(), 0o500);
  expect(await creating(join(dir(), 'svc'))).toMatchObject({
    code: 'forbidden',
    message: expect.stringMatching(/svc" may not be used by \S+: the mode of "\S+" is 0500\.$/),
    hint: `Give yourself access: chmod u+rwX "${dir()}"`,
  });
});

test.skipIf(own !== 0)("another user's installation: nothing of it can be read or changed", async () => {
  chmodSync(dir(), 0o755);
  const { installation } = await createInstallation({ dir: dir() });
  for (const work of [
    () => status({ installation }),
    () => up({ installation, env: {} }),
    () => down({ installation }),
    () => readAll(installation),
  ]) {
    const message = /(state|logs)[^ ]*(?<!draft)" may not be used by nobody: .* belongs to root\.$/;
    const hint = expect.stringContaining('Run the command as root');
    expect(await refusal(work)).toMatchObject({ code: 'forbidden', message: expect.stringMatching(message), hint });
  }
});

test('a file where a folder is needed, a folder where a file is, and where the system allows no folders', async () => {
  const file = join(dir(), 'svc');
  writeFileSync(file, '');
  for (const [below, message] of [
    [file, `"${file}" is a file, and a folder is needed there.`],
    [join(file, 'deeper'), `"${file}" is a file, and a folder is needed there.`],
    ['/proc/svc-test', 'Cannot create a folder in "/proc".'],
  ] as const)
    expect(await creating(below)).toMatchObject({ code: 'invalid_input', message });
  const folder = join(dir(), 'other', 'svc.yaml');
  mkdirSync(folder, { recursive: true });
  const message = `"${folder}" is a folder, and a file is needed there.`;
  expect(await refusal(() => writeFileSync(folder, ''))).toMatchObject({ message });
});

test('it is found beneath wrapping errors, and no other error is', async () => {
  const failure = await creating('/svc-test');
  expect(fileFailure(toSvcError(failure instanceof Error ? failure.cause : null))).toMatchObject({ code: 'forbidden' });
  expect(fileFailure(new TypeError('a bug'))).toBeNull();
  expect(fileFailure(toSvcError(new TypeError('a bug')))).toBeNull();
});
