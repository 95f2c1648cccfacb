import { expect, it } from 'vitest';
import { newProcessId } from '../../contracts/ids.ts';
import { openBus } from './open-bus.ts';
import { startHub } from './start.ts';

const process = newProcessId();
const credentials = { kind: 'backend' } as const;

it('inproc: is the bus of this process', async () => {
  const hub = await startHub({ file: null });
  const bus = await openBus({ servers: ['inproc:'], credentials, process, hub });
  expect(bus.identity).toEqual({ kind: 'backend', process });
  await hub.stop();
});

it('inproc: is refused in a process that has no bus', async () => {
  const opening = openBus({ servers: ['inproc:'], credentials, process, hub: null });
  await expect(opening).rejects.toMatchObject({ code: 'invalid_input', hint: expect.stringContaining('svc up') });
});

it.each([[['localhost:4222']], [['bus-1:4222', 'tls://bus-2:4222']]])('%j is refused by name', async (servers) => {
  const opening = openBus({ servers, credentials, process, hub: null });
  await expect(opening).rejects.toMatchObject({
    code: 'unsupported',
    message: expect.stringContaining(servers.join(',')),
    hint: expect.stringContaining('inproc:'),
  });
});
