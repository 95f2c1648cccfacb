import { expect, it } from 'vitest';
import { newProcessId } from '../../contracts/ids.ts';
import { Secret } from '../../contracts/secret.ts';
import type { Hub } from '../../kit/bus/bus.ts';
import { startHub } from '../../kit/bus/start.ts';
import { createLog } from '../../kit/log.ts';
import { BusLink } from './bus-link.ts';

const log = createLog({ service: 'test', level: 'error', destination: { write: () => undefined } })('bus');

function linkTo(hub: Hub): BusLink {
  const credentials = { kind: 'system', component: 'remote-mcp', key: new Secret('key') } as const;
  return new BusLink({ open: () => hub.connect(credentials, newProcessId()), log });
}

async function beBackend(hub: Hub): Promise<void> {
  const backend = await hub.connect({ kind: 'backend' }, newProcessId());
  backend.authorize(async (_, process) => ({ kind: 'remote-mcp', process }));
}

it('a caller waits until the bus is connected', async () => {
  const hub = await startHub({ file: null });
  const link = linkTo(hub);
  link.start();
  expect(link.present).toBeNull();
  const waiting = [link.connected(), link.connected()];
  await beBackend(hub);
  for (const { bus } of await Promise.all(waiting)) expect(bus.identity.kind).toBe('remote-mcp');
  expect(link.present).not.toBeNull();
  await link.stop();
  await hub.stop();
});

it('a caller waits within the limit for agents, and not for a link that stops', async () => {
  const hub = await startHub({ file: null });
  const link = linkTo(hub);
  link.start();
  const began = performance.now();
  const refused = { code: 'unavailable', message: 'remote-mcp is not connected to the bus.' };
  await expect(link.connected()).rejects.toMatchObject(refused);
  expect(performance.now() - began).toBeGreaterThan(4000);
  const waiting = expect(link.connected()).rejects.toMatchObject(refused);
  const stopped = performance.now();
  await link.stop();
  await waiting;
  expect(performance.now() - stopped).toBeLessThan(4000);
  await hub.stop();
});
