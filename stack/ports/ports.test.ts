import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { expect, test } from 'vitest';
import { isFree } from '../machine/is-free.ts';
import { describeHolder, findPortHolder, listensOn } from '../machine/port-holder.ts';

async function listen(host: string): Promise<Server> {
  const server = createServer().listen({ host, port: 0, ipv6Only: true });
  await once(server, 'listening');
  return server;
}
const portOf = (server: Server) => (server.address() as AddressInfo).port;

test.each(['127.0.0.1', '0.0.0.0'])('isFree distinguishes a port in use at %s, whose owner is known', async (host) => {
  await using server = await listen(host);
  const port = portOf(server);
  expect(await isFree('127.0.0.1', port)).toBe(false);
  expect(findPortHolder(port)).toMatchObject({ pid: process.pid });
  expect([listensOn(process.pid, port), listensOn(process.ppid, port)]).toEqual([true, false]);
  await server[Symbol.asyncDispose]();
  expect(await isFree('127.0.0.1', port)).toBe(true);
  expect([findPortHolder(port), describeHolder(port)]).toEqual([null, 'another program']);
  expect(listensOn(process.pid, port)).toBe(false);
});

test('a program at the other address of localhost would be reached under our name', async (context) => {
  await using server = await listen('::1').catch(() => null);
  if (server === null) return context.skip('this machine has no IPv6');
  expect(await isFree('127.0.0.1', portOf(server))).toBe(false);
});

test.skipIf(process.platform !== 'linux')(
  'the owner of a port is named without secrets or terminal sequences',
  async () => {
    const program = `
      const server = require('node:net').createServer().listen(0, '127.0.0.1', () => console.log(server.address().port));
      process.stdin.resume().once('end', () => process.exit());`;
    using child = spawn(process.execPath, ['-e', program, '--', '--token', 'planted'], { argv0: 'no\u001b[2Jde' });
    const [port] = await once(child.stdout, 'data');
    expect(describeHolder(Number(port))).toBe(`"no [2Jde" (pid ${child.pid})`);
  },
);
