import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { patterns, subjects } from '../../contracts/bus/subjects.ts';
import { newId, newProcessId } from '../../contracts/ids.ts';
import { Secret } from '../../contracts/secret.ts';
import type { Bus, Hub } from '../../kit/bus/bus.ts';
import { startHub } from '../../kit/bus/start.ts';
import { createLog } from '../../kit/log.ts';
import { BusLink } from '../bus/bus-link.ts';
import { checkKey } from './check-key.ts';

const log = createLog({ service: 'test', level: 'error', destination: { write: () => undefined } })('bus');
const key = new Secret('SVA_some-key');

let hub: Hub;
let backend: Bus;
let link: BusLink;

beforeEach(async () => {
  hub = await startHub({ file: null });
  backend = await hub.connect({ kind: 'backend' }, newProcessId());
  backend.authorize(async (_, process) => ({ kind: 'remote-mcp', process }));
  const credentials = { kind: 'system', component: 'remote-mcp', key: new Secret('key') } as const;
  link = new BusLink({ open: () => hub.connect(credentials, newProcessId()), log });
  link.start();
});

afterEach(async () => {
  vi.useRealTimers();
  await link.stop();
  await hub.stop();
});

it('retries while the backend appears a moment later', async () => {
  const checked = checkKey(link, key);
  await link.connected();
  const questions: unknown[] = [];
  backend.respond(patterns.key, async ({ payload }) => {
    questions.push(JSON.parse(Buffer.from(payload).toString()));
    return { payload: Buffer.from('{"ok":false,"refusal":"unknown","at":null}'), headers: {} };
  });
  expect(await checked).toEqual({ ok: false, refusal: 'unknown', at: null });
  expect(questions).toEqual([{ key: key.reveal() }]);
});

it('takes a key of an older backend as one that discloses skills as they are loaded', async () => {
  const principal = {
    ...{ key: newId('key'), keyName: 'agent', user: newId('user'), workspace: newId('workspace') },
    ...{ workspaceName: 'acme', suspended: false, roles: null, expiresAt: null },
  };
  await link.connected();
  backend.respond(patterns.key, async () => ({
    payload: Buffer.from(JSON.stringify({ ok: true, principal })),
    headers: {},
  }));
  expect(await checkKey(link, key)).toEqual({ ok: true, principal: { ...principal, disclosure: 'skills' } });
});

it('retries while the backend returns a moment after the bus, however long the bus was away', async () => {
  await link.stop();
  vi.useFakeTimers({ toFake: ['performance'] });
  const away = Promise.withResolvers<void>();
  const bus = await hub.connect({ kind: 'system', component: 'remote-mcp', key: new Secret('key') }, newProcessId());
  const request = vi.spyOn(bus, 'request');
  link = new BusLink({ open: () => away.promise.then(() => bus), log });
  link.start();
  const checked = checkKey(link, key);
  vi.advanceTimersByTime(4000);
  away.resolve();
  await vi.waitFor(() =>
    expect(request.mock.calls.map(([subject]) => subject)).toContain(subjects.key(bus.identity.process)),
  );
  backend.respond(patterns.key, async () => ({
    payload: Buffer.from('{"ok":false,"refusal":"unknown","at":null}'),
    headers: {},
  }));
  expect(await checked).toMatchObject({ refusal: 'unknown' });
});

it('gives up soon if the backend stays away, and does not call the key wrong', async () => {
  const began = performance.now();
  await expect(checkKey(link, key)).rejects.toMatchObject({
    code: 'unavailable',
    message: 'The API key cannot be checked now: the backend is not answering.',
  });
  expect(performance.now() - began).toBeGreaterThan(2000);
});

it('an invalid answer is reported at once', async () => {
  await link.connected();
  let asked = 0;
  backend.respond(patterns.key, async () => {
    asked++;
    return { payload: Buffer.from('{}'), headers: {} };
  });
  await expect(checkKey(link, key)).rejects.toMatchObject({ code: 'unavailable' });
  expect(asked).toBe(1);
});
