import { expect, it } from 'vitest';
import { newProcessId } from '../../contracts/ids.ts';
import { Secret } from '../../contracts/secret.ts';
import { createLog } from '../log.ts';
import { openBus } from './open-bus.ts';
import { startHub } from './start.ts';

const nonce = newProcessId();
const credentials = { kind: 'backend' } as const;
const client = { kind: 'runtime', key: new Secret('key') } as const;
const logger = createLog({ service: 'test', level: 'error', destination: { write: () => undefined } })('bus');

it('inproc: is the bus of this process', async () => {
  const hub = await startHub({ file: null });
  const bus = await openBus({ servers: ['inproc:'], credentials, nonce, hub, logger });
  expect(bus.identity).toEqual({ kind: 'backend', process: nonce });
  await hub.stop();
});

it('inproc: is refused in a process that has no bus', async () => {
  const opening = openBus({ servers: ['inproc:'], credentials, nonce, hub: null, logger });
  await expect(opening).rejects.toMatchObject({ code: 'invalid_input', hint: expect.stringContaining('svc up') });
});

it('a bus that does not answer is named by its address', async () => {
  const opening = openBus({ servers: ['127.0.0.1:1'], credentials: client, nonce, hub: null, logger });
  await expect(opening).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringContaining('127.0.0.1:1'),
    hint: expect.stringContaining('BUS_SERVERS'),
  });
});

it('a backend without its seeds is refused by their names', async () => {
  const opening = openBus({ servers: ['127.0.0.1:1'], credentials, nonce, hub: null, logger });
  await expect(opening).rejects.toMatchObject({
    code: 'invalid_input',
    message: expect.stringContaining('BUS_ISSUER_SEED'),
  });
});
