import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { isFree } from '../machine/is-free.ts';
import { freePort } from '../test/free-ports.ts';
import { isAlive, startTimeOf } from './process-identity.ts';

const listen = (port: number) =>
  `require('node:net').createServer().listen({ port: ${port}, host: '127.0.0.1' }, () => console.log('listens'))`;

test('an ended process has no port any more, whichever of its threads ends last', async () => {
  const port = await freePort();
  for (let turn = 0; turn < 30; turn++) {
    const child = spawn(process.execPath, ['--eval', listen(port)], { stdio: ['ignore', 'pipe', 'ignore'] });
    const gone = once(child, 'exit');
    await once(child.stdout, 'data');
    const identity = { pid: child.pid ?? 0, startTime: startTimeOf(child.pid ?? 0) ?? '' };
    expect(isAlive(identity)).toBe(true);
    child.kill('SIGKILL');
    // Without a pause, in which it would be reaped.
    for (const until = performance.now() + 5000; isAlive(identity) && performance.now() < until; );
    expect(isAlive(identity)).toBe(false);
    expect(await isFree('127.0.0.1', port), `turn ${turn}`).toBe(true);
    await gone;
    expect(startTimeOf(identity.pid)).not.toBe(identity.startTime);
  }
}, 60_000);
