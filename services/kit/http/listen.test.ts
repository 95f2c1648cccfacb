import { Agent, createServer, get, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { listen, stopListening } from './listen.ts';

const open: Server[] = [];
afterEach(() => {
  for (const server of open.splice(0)) server.close().closeAllConnections();
});

function newServer(answer: (request: IncomingMessage, response: ServerResponse) => void): Server {
  const server = createServer(answer);
  open.push(server);
  return server;
}
const ok = (_: IncomingMessage, response: ServerResponse) => void response.end('ok');

describe('a server', () => {
  it('listens on a free port and returns it', async () => {
    const url = await listen(newServer(ok), { host: '127.0.0.1', port: 0 });
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:[1-9]\d*$/);
    expect(await (await fetch(url)).text()).toBe('ok');
  });

  it.each([
    ['0.0.0.0', '127.0.0.1'],
    ['localhost', 'localhost'],
  ])('on %s is reachable at %s', async (host, reachedAt) => {
    const url = await listen(newServer(ok), { host, port: 0 });
    expect(new URL(url).hostname).toBe(reachedAt);
    expect(await (await fetch(url)).text()).toBe('ok');
  });

  it('refuses a port in use, by its number', async () => {
    const { port } = new URL(await listen(newServer(ok), { host: '127.0.0.1', port: 0 }));
    const second = listen(newServer(ok), { host: '127.0.0.1', port: Number(port) });
    await expect(second).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining(`port ${port} of 127.0.0.1`),
    });
  });

  it('refuses an address of another machine', async () => {
    const listening = listen(newServer(ok), { host: '192.0.2.1', port: 0 });
    await expect(listening).rejects.toMatchObject({
      code: 'invalid_input',
      hint: expect.stringContaining('BIND_HOST'),
    });
  });
});

describe('a server that stops', () => {
  it('finishes the current request and does not wait for the client to close its connection', async () => {
    const begun = Promise.withResolvers<ServerResponse>();
    const server = newServer((_, response) => begun.resolve(response));
    const url = await listen(server, { host: '127.0.0.1', port: 0 });
    const agent = new Agent({ keepAlive: true });
    const answered = answerOf(url, agent);
    const response = await begun.promise;
    const began = performance.now();
    const stopped = stopListening(server, 60_000);
    response.end('finished');
    expect(await answered).toBe('finished');
    await stopped;
    expect(performance.now() - began).toBeLessThan(3000);
    await expect(fetch(url)).rejects.toThrow();
    agent.destroy();
  });

  it('ends unfinished requests at the deadline', async () => {
    const begun = Promise.withResolvers<void>();
    const server = newServer(() => begun.resolve());
    const url = await listen(server, { host: '127.0.0.1', port: 0 });
    const failed = expect(answerOf(url, new Agent())).rejects.toThrow();
    await begun.promise;
    await stopListening(server, 50);
    await failed;
  });

  it('may be stopped twice, and before it has listened', async () => {
    const server = newServer(ok);
    await stopListening(server, 1000);
    await listen(server, { host: '127.0.0.1', port: 0 });
    await stopListening(server, 1000);
    await stopListening(server, 1000);
  });
});

function answerOf(url: string, agent: Agent): Promise<string> {
  return new Promise((resolve, reject) => {
    const request = get(url, { agent }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('end', () => resolve(text));
    });
    request.on('error', reject);
  });
}
