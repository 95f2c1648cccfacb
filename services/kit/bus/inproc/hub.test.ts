import { expect, it } from 'vitest';
import { newId, newProcessId } from '../../../contracts/ids.ts';
import { Secret } from '../../../contracts/secret.ts';
import { startHub } from '../start.ts';

it('a connection that was ended does not return under another identity', async () => {
  const lines: string[] = [];
  const refused = Promise.withResolvers<void>();
  const write = (line: string) => {
    lines.push(line);
    if (line.includes('refused a reconnecting client')) refused.resolve();
  };
  const hub = await startHub({ file: null, log: { write } });
  const backend = await hub.connect({ kind: 'backend' }, newProcessId());
  let runtime = newId('runtime');
  backend.authorize(async (_, process) => ({ kind: 'runtime', process, runtime, name: 'test', workspace: null }));
  const bus = await hub.connect({ kind: 'runtime', key: new Secret('key') }, newProcessId());
  const states: string[] = [];
  bus.onConnection((state) => states.push(state));
  const first = runtime;
  runtime = newId('runtime');
  await backend.disconnect(first);
  await refused.promise;
  expect(states).toEqual(['disconnected']);
  await hub.stop();
});

it('the process can end after the bus has stopped, even while a connection waits to return', async () => {
  const hub = await startHub({ file: null });
  const backend = await hub.connect({ kind: 'backend' }, newProcessId());
  const runtime = newId('runtime');
  backend.authorize(async (_, process) => ({ kind: 'runtime', process, runtime, name: 'test', workspace: null }));
  await hub.connect({ kind: 'runtime', key: new Secret('key') }, newProcessId());
  const before = timers();
  await backend.disconnect(runtime);
  await hub.stop();
  expect(timers()).toBeLessThanOrEqual(before);
});

function timers(): number {
  return process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length;
}
