import { openSession } from '../raw.ts';
import { LoadSocket, measure } from './load.ts';

const warmCalls = 1000;
const calls = 10_000;

/** Makes the load that its parent process ordered, and reports the figures. */
const { url, key, sessions, body, idle } = JSON.parse(process.argv[2] ?? '');
process.send?.(idle === undefined ? await call() : await openIdle());
process.disconnect?.();

async function call(): Promise<string> {
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
  return `${perSecond} a second, median ${medianMs.toFixed(3)} ms, p99 ${p99Ms.toFixed(3)} ms`;
}

async function openIdle(): Promise<string> {
  const atOnce = 20;
  for (let i = 0; i < idle; i += atOnce) {
    await Promise.all(Array.from({ length: atOnce }, () => openSession(url, key)));
  }
  return `${idle} sessions`;
}
