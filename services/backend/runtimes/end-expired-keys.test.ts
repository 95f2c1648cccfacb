import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { patterns, subjects } from '../../contracts/bus/subjects.ts';
import { SvcError } from '../../contracts/errors.ts';
import { newProcessId } from '../../contracts/ids.ts';
import type { Secret } from '../../contracts/secret.ts';
import type { Bus } from '../../kit/bus/bus.ts';
import { addWorkspace, openTestBackend, type TestBackend } from '../test/open-test-backend.ts';
import { createAuthorizer } from './authorize.ts';
import { endExpiredKeys } from './end-expired-keys.ts';
import { registerRuntime } from './register-runtime.ts';
import { Turns } from './turns.ts';

let backend: TestBackend;
beforeEach(async () => {
  backend = await openTestBackend();
  backend.bus.authorize(createAuthorizer(backend));
});
afterEach(() => backend.close());

const lapseMs = 300;

/** The earlier key, used by a connection, and its replacement. */
async function replacedKey() {
  const { id, owner } = await addWorkspace(backend, 'acme');
  const request = { workspace: id, name: 'edge' };
  const before = await registerRuntime(backend, owner, request);
  const old = await connect(before.secret);
  const after = await registerRuntime(backend, owner, request);
  const present = await connect(after.secret);
  return { old, present, before, after };
}

async function connect(key: Secret) {
  const bus = await backend.hub.connect({ kind: 'runtime', key }, newProcessId());
  const lost = new Promise<number>((resolve) => bus.onConnection(() => resolve(Date.now())));
  return { bus, lost };
}

async function setExpiry(secret: Secret, expiresAt: number): Promise<void> {
  const key = await backend.graph.findBy('runtimeKey', { digest: backend.secrets.digest(secret) }, null);
  if (key === null) throw new Error('the key is not there');
  await backend.graph.write((transaction) => transaction.update('runtimeKey', key.id, { expiresAt }, { anchor: null }));
}

/** A client without a connection gets no answer. */
async function isAnswered(bus: Bus): Promise<boolean> {
  const { identity } = bus;
  if (identity.kind !== 'runtime') return false;
  const subject = subjects.handshake(identity.runtime, identity.process);
  return await bus.request(subject, new Uint8Array(), { timeoutMs: 5000 }).then(
    () => true,
    () => false,
  );
}

test("a connection ends within a second of its key's expiry, and one with the current key stays", async () => {
  const { old, present, before, after } = await replacedKey();
  expect(before.overlapEndsAt).toBeNull();
  expect(after.overlapEndsAt).toBeGreaterThan(Date.now() + 23 * 60 * 60 * 1000);
  const end = Date.now() + lapseMs;
  await setExpiry(before.secret, end);
  const ending = endExpiredKeys(backend, new Turns());
  const endedAt = await old.lost;
  expect(endedAt).toBeGreaterThanOrEqual(end);
  expect(endedAt).toBeLessThan(end + 1000);
  backend.bus.respond(patterns.handshake, async () => ({ payload: new Uint8Array(), headers: {} }));
  expect([await isAnswered(old.bus), await isAnswered(present.bus)]).toEqual([false, true]);
  await ending.stop();
});

test('a key that expired while no backend ran is handled when one starts', async () => {
  const { old, before } = await replacedKey();
  await setExpiry(before.secret, Date.now() - 1);
  const ending = endExpiredKeys(backend, new Turns());
  await old.lost;
  await ending.stop();
});

test('a key beyond the limit ends at once', async () => {
  const { id, owner } = await addWorkspace(backend, 'acme');
  const request = { workspace: id, name: 'edge' };
  const first = await connect((await registerRuntime(backend, owner, request)).secret);
  for (let i = 0; i < 10; i++) await registerRuntime(backend, owner, request);
  await first.lost;
});

test('a new key is shown even when the bus fails to end connections of a removed one', async () => {
  const { id, owner } = await addWorkspace(backend, 'acme');
  const request = { workspace: id, name: 'edge' };
  const disconnect = vi.spyOn(backend.bus, 'disconnect').mockRejectedValue(new SvcError('unavailable', 'No answer.'));
  for (let key = 0; key < 11; key++) await registerRuntime(backend, owner, request);
  expect(disconnect).toHaveBeenCalled();
});
