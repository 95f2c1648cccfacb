import { describe, expect, test } from 'vitest';
import type { SvcError } from '../../contracts/errors.ts';
import { newKey } from '../../contracts/keys.ts';
import { Platform, script } from './platform.ts';

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** The first refusal that the runtime reports to its operator. */
function firstRefusal() {
  const { promise, resolve } = Promise.withResolvers<SvcError>();
  return { told: promise, watch: { onRefused: resolve } };
}

describe('the operator of a runtime learns that it is refused', () => {
  test('when its key is unknown', async () => {
    await using platform = await Platform.open();
    const { told, watch } = firstRefusal();
    await platform.startRuntime({ RUNTIME_KEY: newKey('runtime').reveal() }, watch);
    expect(await told).toMatchObject({ code: 'unauthenticated', message: 'There is no such runtime.' });
  });

  test('when the key is revoked while it runs, and it then keeps no data', async () => {
    await using platform = await Platform.open();
    platform.assign({ one: script('stubborn') });
    const { told, watch } = firstRefusal();
    await platform.startRuntime({}, watch);
    await platform.connected('one');
    const pid = Number(await platform.say('one', {}));
    platform.key = newKey('runtime');
    await platform.backend.disconnect(platform.runtime);
    expect(await told).toMatchObject({ code: 'unauthenticated', message: 'There is no such runtime.' });
    await expect.poll(() => isAlive(pid), { timeout: 15_000 }).toBe(false);
  });

  test('when the backend no longer accepts it', async () => {
    await using platform = await Platform.open();
    const { told, watch } = firstRefusal();
    platform.revoked = true;
    await platform.startRuntime({}, watch);
    expect(await told).toMatchObject({ code: 'unauthenticated', message: 'This runtime was revoked.' });
  });

  test('when its bus address can never work', async () => {
    await using platform = await Platform.open();
    const { told, watch } = firstRefusal();
    await platform.startRuntime({ BUS_SERVERS: 'inproc:' }, watch, null);
    expect(await told).toMatchObject({ code: 'invalid_input', message: expect.stringContaining('inproc:') });
  });
});

test('an unreachable backend is waited for, is not a refusal, and is logged once a minute', async () => {
  await using platform = await Platform.open();
  await platform.backend.close();
  const refusals: SvcError[] = [];
  await platform.startRuntime({ LOG_LEVEL: 'debug' }, { onRefused: (refusal) => refusals.push(refusal) });
  const failures = () => platform.logOf('bus').filter(({ msg }) => msg === 'failed to connect to the bus');
  await expect.poll(() => failures().length, { timeout: 10_000 }).toBeGreaterThanOrEqual(3);
  expect(
    failures()
      .map(({ level }) => level)
      .slice(0, 3),
  ).toEqual(['warn', 'debug', 'debug']);
  await platform.startBackend();
  await platform.until(() => (platform.reports.length > 0 ? true : null));
  expect(refusals).toEqual([]);
});

test('a key with a typo is refused before any request', async () => {
  await using platform = await Platform.open();
  const key = platform.key.reveal();
  const mistyped = key.slice(0, -1) + (key.endsWith('x') ? 'y' : 'x');
  const refused = expect(platform.startRuntime({ RUNTIME_KEY: mistyped })).rejects;
  await refused.toMatchObject({ code: 'invalid_input', message: expect.stringContaining('RUNTIME_KEY has a typo') });
});

test('a key of another kind is named as that kind', async () => {
  await using platform = await Platform.open();
  const refused = expect(platform.startRuntime({ RUNTIME_KEY: newKey('user').reveal() })).rejects;
  await refused.toMatchObject({ code: 'invalid_input', message: expect.stringContaining('which is a user key') });
});
