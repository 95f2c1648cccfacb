import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { isFree } from '../machine/is-free.ts';
import { describeHolder, findPortHolder } from '../machine/port-holder.ts';

const servers: Server[] = [];
afterEach(release);

async function occupy(host: string): Promise<number> {
  const server = createServer();
  servers.push(server);
  await once(server.listen({ host, port: 0, ipv6Only: true }), 'listening');
  return (server.address() as AddressInfo).port;
}

async function release(): Promise<void> {
  await Promise.all(servers.splice(0).map((server) => new Promise((resolve) => server.close(resolve))));
}

describe('isFree', () => {
  test.each(['127.0.0.1', '0.0.0.0'])('distinguishes a port in use at %s from a free one', async (host) => {
    const port = await occupy(host);
    expect(await isFree('127.0.0.1', port)).toBe(false);
    await release();
    expect(await isFree('127.0.0.1', port)).toBe(true);
  });

  test('a program at the other address of localhost would be reached under our name', async (context) => {
    const port = await occupy('::1').catch(() => null);
    if (port === null) return context.skip('this machine has no IPv6');
    expect(await isFree('127.0.0.1', port)).toBe(false);
  });
});

describe('the owner of a port', () => {
  test('is found with its command', async () => {
    const port = await occupy('127.0.0.1');
    expect(findPortHolder(port)).toMatchObject({ pid: process.pid });
    expect(describeHolder(port)).toContain(`(pid ${process.pid})`);
  });

  test.skipIf(process.platform !== 'linux')('is named without secrets or terminal sequences', async () => {
    const listen = `
        const server = require('node:net').createServer().listen(0, '127.0.0.1', () => console.log(server.address().port));
        process.stdin.resume().once('end', () => process.exit());`;
    const child = spawn(process.execPath, ['-e', listen, '--', '--token', 'planted'], { argv0: 'no\u001b[2Jde' });
    try {
      const [port] = await once(child.stdout, 'data');
      expect(describeHolder(Number(port))).toBe(`"no [2Jde" (pid ${child.pid})`);
    } finally {
      child.stdin.end();
      await once(child, 'exit');
    }
  });

  test('is null without a listener', async () => {
    const port = await occupy('127.0.0.1');
    await release();
    expect(findPortHolder(port)).toBeNull();
    expect(describeHolder(port)).toBe('another program');
  });
});
