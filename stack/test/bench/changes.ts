import type { ChildProcess } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { cataloguePath } from '../../../services/contracts/catalogue.ts';
import { updateSkillMutation, workspaceQuery } from '../../client/generated/operations.ts';
import { readSecret, secretFilesOf } from '../../secrets/secrets.ts';
import { connectAgent } from '../agent.ts';
import { freePort } from '../free-ports.ts';
import { type BenchPlatform, serviceOf } from './bench-platform.ts';
import { addBulk, applySkills } from './disturbances.ts';
import { atMost, type Figure, reported } from './figure.ts';
import { median } from './load.ts';
import { eventually, startNode, timeOf } from './processes.ts';

const nodes = 20;
const rounds = 10;
const restMs = 1000;
const reachMaxMs = 200;
const reachedWithinMs = 10_000;
const main = new URL('../../../services/remote-mcp/main.ts', import.meta.url).pathname;

/** How soon twenty remote-mcps know of a change, and what it takes to fetch a large workspace. */
export async function measureChanges(bench: BenchPlatform): Promise<Figure[]> {
  const started: ChildProcess[] = [];
  try {
    const listening = await Promise.all(
      Array.from({ length: nodes }, async () => {
        const port = await freePort();
        started.push(await startRemoteMcp(bench, port));
        const url = `http://127.0.0.1:${port}/mcp?skillIds=${bench.echo}`;
        return await eventually('a remote-mcp', () => listen(url, bench.key));
      }),
    );
    // A remote-mcp that has just fetched a catalogue gives the backend a rest, which a change in a row with others waits for.
    const apart = await changeAgain(bench, listening, restMs);
    const inARow = await changeAgain(bench, listening, 0);
    for (const { close } of listening) await close();
    return [
      atMost(`a change reaching ${nodes} remote-mcp`, median(apart), reachMaxMs, 'ms', { all: apart }),
      reported('the same, each change right after the one before', median(inARow), 'ms', { all: inARow }),
      ...(await measurePull(bench)),
    ];
  } finally {
    for (const child of started) child.kill('SIGTERM');
  }
}

async function startRemoteMcp({ platform, apiUrl }: BenchPlatform, port: number): Promise<ChildProcess> {
  return startNode([main], {
    BUS_SERVERS: (await serviceOf(platform, 'nats')).url,
    SYSTEM_KEY_FILE: secretFilesOf(platform.installation).remoteMcpKey,
    PRIVATE_BACKEND_URL: apiUrl,
    REMOTE_PORT: String(port),
    LOG_LEVEL: 'error',
  });
}

interface Listening {
  /** Resolves at the next notification that the list of tools has changed. */
  readonly next: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** A session with the skill disclosed from the start. */
async function listen(url: string, key: string): Promise<Listening> {
  const { client, listToolNames } = await connectAgent(url, key);
  await listToolNames();
  return {
    next: () =>
      new Promise((resolve) => client.setNotificationHandler('notifications/tools/list_changed', () => resolve())),
    close: () => client.close(),
  };
}

async function changeAgain(
  bench: BenchPlatform,
  listening: readonly Listening[],
  restMs: number,
): Promise<readonly number[]> {
  const backend = await bench.platform.backend();
  const workspace = await defaultWorkspace(bench);
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) {
    await pause(restMs);
    const names = round % 2 === 0 ? ['echo', 'get-sum'] : ['echo'];
    const tools = names.map((tool) => ({ mcpServer: 'everything', tool }));
    const heard = Promise.all(listening.map(({ next }) => next()));
    const change = async () => {
      await backend.send(updateSkillMutation, { workspace, id: bench.echo, input: { tools } });
      await Promise.race([heard, late()]);
    };
    times.push(await timeOf(change));
  }
  return times;
}

async function defaultWorkspace({ platform }: BenchPlatform): Promise<string> {
  const { workspace } = await (await platform.backend()).send(workspaceQuery, { name: 'Default' });
  return workspace?.id ?? '';
}

function late(): Promise<never> {
  return new Promise((_, reject) => {
    setTimeout(() => reject(new Error('A change did not reach everybody.')), reachedWithinMs).unref();
  });
}

async function measurePull(bench: BenchPlatform): Promise<Figure[]> {
  for (const name of ['bulk-1', 'bulk-2']) await addBulk(bench, name);
  await applySkills(bench);
  const url = `${bench.apiUrl}${cataloguePath}/${await defaultWorkspace(bench)}`;
  const key = readSecret(secretFilesOf(bench.platform.installation).remoteMcpKey);
  const times: number[] = [];
  let bytes = 0;
  const pull = async () => {
    const answer = await fetch(url, { headers: { authorization: `Bearer ${key}` } });
    bytes = (await answer.arrayBuffer()).byteLength;
  };
  for (let round = 0; round < rounds; round++) times.push(await timeOf(pull));
  return [
    reported('catalogue pull of 1,000 skills and 10,000 tools', median(times), 'ms', { all: times }),
    reported('its size', bytes / 1024 / 1024, 'MB'),
  ];
}
