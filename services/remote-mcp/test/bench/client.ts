import { LoadSocket, measure } from './load.ts';

const warmCalls = 1000;
const calls = 10_000;

/** Makes the load that it was told to make, and tells its parent the figures. */
const { url, key, sessions, body } = JSON.parse(process.argv[2] ?? '');
const sockets: LoadSocket[] = [];
for (const session of sessions) {
  const headers = {
    authorization: `Bearer ${key}`,
    'mcp-session-id': session,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  };
  sockets.push(await LoadSocket.open(new URL(url), headers, JSON.stringify(body)));
}
await measure(sockets, warmCalls);
const { perSecond, medianMs, p99Ms } = await measure(sockets, calls);
for (const socket of sockets) socket.close();
process.send?.(`${perSecond} a second, median ${medianMs.toFixed(3)} ms, p99 ${p99Ms.toFixed(3)} ms`);
process.disconnect?.();
