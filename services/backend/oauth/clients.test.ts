import { expect, test } from 'vitest';
import { openTestBackend } from '../test/open-test-backend.ts';
import { addClient, findClient, noteClientUse } from './clients.ts';

test('a flood of registrations removes its own oldest ones, and no client in use', async () => {
  const backend = await openTestBackend();
  const add = (id: string) => addClient(backend, id, { client_name: id }, 150);
  await add('in use');
  await noteClientUse(backend, 'in use');
  for (let at = 0; at < 400; at++) await add(`flood ${at}`);
  await add('person');
  for (let at = 400; at < 440; at++) await add(`flood ${at}`);
  const count = await backend.graph.count({ type: 'oauthClient', anchor: null, limit: 1 });
  expect(count).toBeLessThanOrEqual(150);
  expect(await findClient(backend, 'in use')).toEqual({ client_name: 'in use' });
  expect(await findClient(backend, 'person')).toEqual({ client_name: 'person' });
  expect(await findClient(backend, 'flood 0')).toBe(null);
  await backend.close();
});

test('no client in use makes room for a new one', async () => {
  const backend = await openTestBackend();
  const ids = ['one', 'two', 'three'];
  for (const id of ids) {
    await addClient(backend, id, {}, ids.length);
    await noteClientUse(backend, id);
  }
  await expect(addClient(backend, 'four', {}, ids.length)).rejects.toMatchObject({ code: 'unavailable' });
  for (const id of ids) expect(await findClient(backend, id)).toEqual({});
  await backend.close();
});
