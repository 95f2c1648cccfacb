import type { ChildProcess } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { cataloguePath } from '../../../services/contracts/catalogue.ts';
import { type BackendClient, connectToBackend } from '../../client/backend-client.ts';
import { readSecret, secretFilesOf } from '../../secrets/secrets.ts';
import { installationIn } from '../../state/installation.ts';
import { freePort } from '../free-ports.ts';
import { type BenchPlatform, busOf } from './bench-platform.ts';
import { addBulk, applySkills } from './disturbances.ts';
import { atMost, type Figure, reported } from './figure.ts';
import { median } from './load.ts';
import { eventually, startNode } from './processes.ts';

const nodes = 20;
const rounds = 10;
const restMs = 1000;
const reachMaxMs = 200;
const reachedWithinMs = 10_000;
const main = new URL('../../../services/remote-mcp/main.ts', import.meta.url).pathname;

/** How soon twenty remote-mcps know of a change, and what it takes to fetch a large workspace. */
export async function measureChanges(platform: BenchPlatform): Promise<Figure[]> {
  const backend = await connectToBackend(installationIn(platform.dir));
  const started: ChildProcess[] = [];
  try {
    const listening = await Promise.all(
      Array.from({ length: nodes }, async () => {
        const port = await freePort();
        started.push(await startRemoteMcp(platform, port));
        return await eventually('a remote-mcp', () => listen(new URL(`http://127.0.0.1:${port}/mcp`), platform));
      }),
    );
    // A remote-mcp that has just fetched a catalogue gives the backend a rest, which a change in a row with others waits for.
    const apart = await changeAgain(backend, listening, restMs);
    const inARow = await changeAgain(backend, listening, 0);
    for (const { close } of listening) close();
    return [
      atMost(`a change reaching ${nodes} remote-mcp`, median(apart), reachMaxMs, 'ms', { all: apart }),
      reported('the same, each change right after the one before', median(inARow), 'ms', { all: inARow }),
      ...(await measurePull(platform, backend)),
    ];
  } finally {
    for (const child of started) child.kill('SIGTERM');
  }
}

async function changeAgain(
  backend: BackendClient,
  listening: readonly Listening[],
  restMs: number,
): Promise<readonly number[]> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) {
    await pause(restMs);
    times.push(await changeOnce(backend, listening, round));
  }
  return times;
}

async function startRemoteMcp(platform: BenchPlatform, port: number): Promise<ChildProcess> {
  return startNode([main], {
    BUS_SERVERS: await busOf(platform.dir),
    SYSTEM_KEY_FILE: secretFilesOf(installationIn(platform.dir)).remoteMcpKey,
    PRIVATE_BACKEND_URL: platform.apiUrl,
    REMOTE_PORT: String(port),
    LOG_LEVEL: 'error',
  });
}

interface Listening {
  /** Resolves at the next notification that the list of tools has changed. */
  readonly next: () => Promise<void>;
  readonly close: () => void;
}

/** A session with the skill disclosed from the start, whose stream is open. */
async function listen(url: URL, { key, mcpUrl, mcpUrls }: BenchPlatform): Promise<Listening> {
  const address = new URL((mcpUrls[0] ?? mcpUrl).search, url);
  const headers = { authorization: `Bearer ${key}`, accept: 'application/json, text/event-stream' };
  const post = (body: object, session?: string) =>
    fetch(address, {
      method: 'POST',
      headers: {
        ...headers,
        'content-type': 'application/json',
        ...(session === undefined ? {} : { 'mcp-session-id': session }),
      },
      body: JSON.stringify({ jsonrpc: '2.0', ...body }),
    });
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'bench', version: '1' } };
  const opened = await post({ id: 1, method: 'initialize', params });
  const session = opened.headers.get('mcp-session-id');
  if (session === null) throw new Error(await opened.text());
  await post({ method: 'notifications/initialized' }, session);
  await (await post({ id: 2, method: 'tools/list' }, session)).text();
  const stop = new AbortController();
  const stream = await fetch(address, { headers: { ...headers, 'mcp-session-id': session }, signal: stop.signal });
  let told = () => {};
  void (async () => {
    for await (const chunk of stream.body ?? []) if (Buffer.from(chunk).includes('list_changed')) told();
  })().catch(() => {});
  return {
    next: () =>
      new Promise((resolve) => {
        told = resolve;
      }),
    close: () => stop.abort(),
  };
}

const skillShape = z.object({
  workspace: z.object({
    id: z.string(),
    skills: z.object({ nodes: z.array(z.object({ id: z.string(), name: z.string() })) }),
  }),
});

/** From the moment a person asks for it until the last session has heard of it. */
async function changeOnce(backend: BackendClient, listening: readonly Listening[], round: number): Promise<number> {
  const found = await backend.query(
    '{ workspace(name: "Default") { id skills(first: 100) { nodes { id name } } } }',
    {},
    skillShape.parse,
  );
  const skill = found.workspace.skills.nodes.find(({ name }) => name === 'bench-echo');
  const tools = round % 2 === 0 ? ['echo', 'get-sum'] : ['echo'];
  const heard = Promise.all(listening.map(({ next }) => next()));
  const start = performance.now();
  await backend.query(
    'mutation ($w: ID!, $id: ID!, $tools: [ToolRef!]) { updateSkill(workspace: $w, id: $id, input: { tools: $tools }) { id } }',
    { w: found.workspace.id, id: skill?.id, tools: tools.map((tool) => ({ mcpServer: 'everything', tool })) },
    (data) => data,
  );
  await Promise.race([heard, late()]);
  return performance.now() - start;
}

function late(): Promise<never> {
  return new Promise((_, reject) => {
    setTimeout(() => reject(new Error('A change did not reach everybody.')), reachedWithinMs).unref();
  });
}

async function measurePull(platform: BenchPlatform, backend: BackendClient): Promise<Figure[]> {
  for (const name of ['bulk-1', 'bulk-2']) await addBulk(platform, name);
  await applySkills(platform);
  const found = await backend.query(
    '{ workspace(name: "Default") { id skills(first: 1) { nodes { id name } } } }',
    {},
    skillShape.parse,
  );
  const key = readSecret(secretFilesOf(installationIn(platform.dir)).remoteMcpKey);
  const times: number[] = [];
  let bytes = 0;
  for (let round = 0; round < rounds; round++) {
    const start = performance.now();
    const answer = await fetch(`${platform.apiUrl}${cataloguePath}/${found.workspace.id}`, {
      headers: { authorization: `Bearer ${key}` },
    });
    bytes = (await answer.arrayBuffer()).byteLength;
    times.push(performance.now() - start);
  }
  return [
    reported('catalogue pull of 1,000 skills and 10,000 tools', median(times), 'ms', { all: times }),
    reported('its size', bytes / 1024 / 1024, 'MB'),
  ];
}
