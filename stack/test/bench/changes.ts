import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { cataloguePath } from '../../../services/contracts/catalogue.ts';
import { updateSkillMutation } from '../../client/generated/operations.ts';
import { readSecret, secretFilesOf } from '../../secrets/secrets.ts';
import { type Agent, connectAgent } from '../agent.ts';
import { repository } from '../foreign-servers.ts';
import { freePort } from '../free-ports.ts';
import type { Platform } from '../platform.ts';
import { type BenchPlatform, startPlatform } from './bench-platform.ts';
import { addTools, applySkills } from './disturbances.ts';
import { type Figure, medianMs, reported } from './figure.ts';
import { timeOf } from './load.ts';
import { eventually, startNode } from './processes.ts';

/** More than `replicas` of svc.yaml allows, so the bench starts them. */
const remoteMcps = 20;
const program = join(repository, 'services/remote-mcp/main.ts');
const rounds = 10;
const apartMs = 1000;
const toldMaxMs = 200;
const toldWithinMs = 10_000;

/** How soon many remote-mcps tell their agents of a changed skill, and how long the pull of a large catalogue takes. */
export async function measureChanges(): Promise<Figure[]> {
  await using bench = await startPlatform({ topology: 'distributed' });
  return [...(await measureTold(bench)), ...(await measurePull(bench.platform))];
}

async function measureTold({ platform, key }: BenchPlatform): Promise<Figure[]> {
  const id = await platform.addSkill('changed', ['demo/echo']);
  await platform.addRole('Changed', ['changed']);
  const [backend, workspace] = [await platform.backend(), await platform.workspace()];
  const change = (names: readonly string[]) => {
    const tools = names.map((tool) => ({ mcpServer: 'demo', tool }));
    return backend.send(updateSkillMutation, { workspace, id, input: { tools } });
  };
  await using ends = new AsyncDisposableStack();
  const open = async () => {
    const url = `${await startRemoteMcp(platform, ends)}/mcp?skillIds=${id}`;
    const agent = await eventually('a session', () => connectAgent(url, key));
    ends.defer(() => agent.client.close());
    await agent.listToolNames();
    return agent;
  };
  const agents = await Promise.all(Array.from({ length: remoteMcps }, open));
  const what = `${remoteMcps} remote-mcps tell their agents of a changed skill`;
  return [
    medianMs(`${what}: changes apart`, await timesOf(change, agents, apartMs), toldMaxMs),
    // A remote-mcp that has just fetched a catalogue waits before the next one.
    medianMs(`${what}: changes in a row`, await timesOf(change, agents, 0)),
  ];
}

async function startRemoteMcp(platform: Platform, ends: AsyncDisposableStack): Promise<string> {
  const port = await freePort();
  const child = startNode([program], {
    BUS_SERVERS: `nats://127.0.0.1:${platform.busPorts.port}`,
    SYSTEM_KEY_FILE: secretFilesOf(platform.installation).remoteMcpKey,
    PRIVATE_BACKEND_URL: backendUrl(platform),
    REMOTE_PORT: String(port),
    LOG_LEVEL: 'error',
  });
  ends.defer(() => void child.kill());
  return `http://127.0.0.1:${port}`;
}

type Change = (tools: readonly string[]) => Promise<unknown>;

/** How long each change takes, from its request until every agent is told. */
async function timesOf(change: Change, agents: readonly Agent[], pauseMs: number): Promise<readonly number[]> {
  const times: number[] = [];
  while (times.length < rounds) {
    await pause(pauseMs);
    const tools = times.length % 2 === 0 ? ['echo', 'add'] : ['echo'];
    times.push(await timeOf(() => Promise.all([...agents.map(toldOfTools), change(tools)])));
  }
  return times;
}

function toldOfTools({ client }: Agent): Promise<void> {
  return new Promise((resolve, reject) => {
    client.setNotificationHandler('notifications/tools/list_changed', () => resolve());
    const late = () => reject(new Error(`An agent was not told of a changed skill within ${toldWithinMs / 1000} s.`));
    AbortSignal.timeout(toldWithinMs).addEventListener('abort', late);
  });
}

async function measurePull(platform: Platform): Promise<Figure[]> {
  await addTools(platform);
  await applySkills(platform);
  const url = `${backendUrl(platform)}${cataloguePath}/${await platform.workspace()}`;
  const headers = { authorization: `Bearer ${readSecret(secretFilesOf(platform.installation).remoteMcpKey)}` };
  const pull = async () => (await fetch(url, { headers })).text();
  const times: number[] = [];
  while (times.length < rounds) times.push(await timeOf(pull));
  const what = 'pull of a catalogue of 1,000 skills and 10,000 tools';
  return [medianMs(what, times), reported(`${what}: size`, Buffer.byteLength(await pull()) / 1_048_576, 'MB')];
}

function backendUrl({ ports }: Platform): string {
  return `http://127.0.0.1:${ports.backend}`;
}
