// Runs in its own network: members' URLs to an address of this machine, and to names with a silent name server.
import { createSocket } from 'node:dgram';
import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { greetings } from './greetings.ts';
import type { IsolatedNetworkResult } from './isolated-network.ts';

const [address = ''] = process.argv.slice(2);
const lookupsAtOnce = 8;

const reached: string[] = [];
const server = createServer((request, response) => {
  reached.push(request.headers['x-from']?.toString() ?? '');
  response.writeHead(404).end();
}).listen(0, '0.0.0.0');
await once(server, 'listening');
const url = `http://${address}:${(server.address() as AddressInfo).port}/`;
const reach = async (from: string, attempt: Pick<Parameters<typeof greetings>[0], 'setBy' | 'allowed'>) =>
  (await greetings({ url, headers: { 'x-from': from }, ...attempt })).outcomes[0];
const outcome = await reach('member', {});
await reach('allowed member', { allowed: [address] });
await reach('operator', { setBy: 'operator' });
server.close();

const silent = createSocket('udp4').bind(53, '127.0.0.1');
await once(silent, 'listening');
const begun = performance.now();
const greeted = Array.from({ length: lookupsAtOnce }, (_, at) => greetings({ url: `http://name${at}.example/` }));
await once(silent, 'message');
const other = performance.now();
await lookup('localhost');
const otherMs = performance.now() - other;
const unanswered = (await Promise.all(greeted)).flatMap(({ outcomes }) => outcomes);
const lookupMs = performance.now() - begun;
silent.close();
process.stdout.write(
  JSON.stringify({ outcome, reached, otherMs, lookupMs, unanswered } satisfies IsolatedNetworkResult),
);
