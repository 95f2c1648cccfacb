import type { ChildProcess } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { cataloguePath } from '../../../services/contracts/catalogue.ts';
import { updateSkillMutation, workspaceQuery } from '../../client/generated/operations.ts';
import { readSecret, secretFilesOf } from '../../secrets/secrets.ts';
import { connectAgent } from '../agent.ts';
import { freePort } from '../free-ports.ts';
import { type BenchPlatform, serviceOf } from './bench-platform.ts';
import { addBulk, applySkills } from './disturbances.ts';
import { type Figure, medianMs, reported } from './figure.ts';
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
      medianMs(`a change reaching ${nodes} remote-mcp`, apart, reachMaxMs),
      medianMs('the same, each change right after the one before', inARow),
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

/** A session with the skill disclosed from the start; `next` is the next notification that the list of tools has changed. */
async function listen(url: string, key: string) {
  const { client, listToolNames } = await connectAgent(url, key);
  await listToolNames();
  const heard = (resolve: () => void) => client.setNotificationHandler('notifications/tools/list_changed', resolve);
  return { next: () => new Promise<void>(heard), close: () => client.close() };
}

type Listening = Awaited<ReturnType<typeof listen>>;

async function changeAgain(bench: BenchPlatform, listening: readonly Listening[], restMs: number) {
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

async function late(): Promise<never> {
  await pause(reachedWithinMs, undefined, { ref: false });
  throw new Error('A change did not reach everybody.');
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
    medianMs('catalogue pull of 1,000 skills and 10,000 tools', times),
    reported('its size', bytes / 1024 / 1024, 'MB'),
  ];
}
