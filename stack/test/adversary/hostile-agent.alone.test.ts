import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { graphqlPath } from '../../../services/contracts/token.ts';
import { instructionsMaxBytes } from '../../../services/contracts/workspace-limits.ts';
import { openSession, ping, rpc, send } from '../../../services/remote-mcp/test/raw.ts';
import type { Topology } from '../../settings/choices.ts';
import { type Home, startTwoHomes } from '../homes.ts';
import { type Platform, startTimeoutMs, testTimeoutMs } from '../platform.ts';
import { until } from '../until.ts';
import { attack, type HttpAttack, type Outcome, type Target } from './http-attacks.ts';
import { liveBytes } from './live-memory.ts';
import { memberToken } from './member-token.ts';
import { onEachTopology } from './on-each-topology.ts';
import { Victim } from './victim.ts';

const mebibyte = 1024 * 1024;
vi.setConfig({ testTimeout: testTimeoutMs });

/**
 * The attacker has a good API key of workspace A, the token of its owner, or none, and writes every byte of its requests. The victim is an agent of workspace B: it must get
 * the same answers, with a p99 of at most five times the idle one, or 50 ms. Each attack lasts 1.5 s, in a process of the lowest priority.
 */
let platform: Platform;
let a: Home;
let b: Home;
let victim: Victim;
/** Of remote-mcp, which agents talk to. */
let pid: number;

async function start(topology: Topology): Promise<void> {
  ({ platform, a, b } = await startTwoHomes({ topology }));
  await storeLargeSkills();
  const { services } = await platform.svc('status');
  pid = services.find(({ name }: { readonly name: string }) => name === 'remote-mcp').pid;
  const [mcpUrl, key] = [`${platform.mcpUrl}?skillIds=${b.same.skill}`, b.same.keyText];
  victim = await Victim.start({ mcpUrl, key, tool: 'get-env', arguments: {}, answer: b.mark });
}

async function target(): Promise<Target> {
  const key = a.same.keyText;
  return {
    url: platform.mcpUrl,
    key,
    session: await openSession(`${platform.mcpUrl}?skillIds=${a.same.skill}`, key),
    question: rpc('tools/list', undefined, 1),
  };
}

const everyPage = 'skills { nodes { name tools { name } mcpServers { name status } } }';
/** The instructions of every skill, as often as one query may ask for them. */
const mostText = Array.from({ length: 50 }, (_, i) => `a${i}: skills(first: 100) { nodes { instructions } }`).join(' ');

/** The owner of workspace A asks the backend. */
async function memberTarget(query: string): Promise<Target> {
  return {
    url: `http://127.0.0.1:${platform.ports.backend}${graphqlPath}`,
    key: await memberToken(platform.installation, a.owner.id),
    session: '',
    question: { query, variables: { w: a.workspace } },
  };
}

/**
 * Waits until a large message of the sender is answered: large messages are read in turn, and those of the row before come first. Each try has a
 * connection of its own. The platform closes the connection of a refused body, and the victim must not find such a one in a shared pool.
 */
async function rested(target: Target): Promise<Target> {
  await until(async () => (await statusOf(target).catch(() => null)) === 200);
  return target;
}

async function statusOf({ url, key, session, question }: Target): Promise<number | undefined> {
  const headers = {
    authorization: `Bearer ${key}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...(session === '' ? {} : { 'mcp-session-id': session }),
  };
  const asked = request(url, { method: 'POST', headers, agent: false });
  asked.end(JSON.stringify(question).padEnd(mebibyte));
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  await text(answer);
  return answer.statusCode;
}

const inWorkspace = (fields: string) => `query ($w: ID!) { workspace(id: $w) { ${fields} } }`;
const describeSkill = (text: string, skill: string) =>
  `mutation ($w: ID!) { updateSkill(workspace: $w, id: "${skill}", input: { description: "${text}" }) { version } }`;

/** The owner of workspace A has another workspace, with as many skills as a page has, each with the longest instructions. */
async function storeLargeSkills(): Promise<void> {
  const backend = await platform.backend();
  const input = { name: 'Large', ownerEmail: a.owner.email };
  const createWorkspace = 'mutation ($input: CreateWorkspaceInput!) { createWorkspace(input: $input) { id } }';
  const made = z.object({ createWorkspace: z.object({ id: z.string() }) });
  const w = (await backend.query(createWorkspace, { input }, made.parse)).createWorkspace.id;
  const instructions = 'x'.repeat(instructionsMaxBytes);
  const create = 'mutation ($w: ID!, $input: SkillInput!) { createSkill(workspace: $w, input: $input) { id } }';
  for (let i = 0; i < 100; i++) {
    await backend.query(create, { w, input: { name: `large-${i}`, instructions } }, () => undefined);
  }
}

/** What the attacker must get beside what the victim gets. */
interface Row {
  readonly attack: HttpAttack;
  readonly gets: (outcome: Outcome) => void;
}

const some = expect.any(Number);
const answers = (status: number) => (outcome: Outcome) => expect(outcome).toMatchObject({ [status]: some });
const isNeverAnswered = (outcome: Outcome) => expect(outcome[200]).toBe(undefined);

/** Attacks that fill memory. What one key can hold is bounded, and what it held is given back. */
const onMemory: readonly Row[] = [
  { attack: 'unfinishedBodies', gets: answers(429) },
  { attack: 'bodiesThatStop', gets: answers(429) },
  { attack: 'unreadAnswers', gets: () => undefined },
  { attack: 'wideBodies', gets: isNeverAnswered },
  { attack: 'deepBodies', gets: answers(400) },
];

/** Attacks that fill places or take time. */
const onPlaces: readonly Row[] = [
  { attack: 'sessions', gets: answers(200) },
  { attack: 'streams', gets: answers(200) },
  { attack: 'fullSpeed', gets: answers(200) },
  { attack: 'unknownKeys', gets: isNeverAnswered },
  {
    attack: 'wrongKeys',
    gets: (outcome) => expect(Object.keys(outcome).sort()).toEqual(['401', 'closed', 'connections']),
  },
  { attack: 'idleConnections', gets: answers(200) },
  { attack: 'unfinishedHeads', gets: isNeverAnswered },
  { attack: 'hugeHeads', gets: answers(431) },
];

/** The same attacks on the backend. */
const byMember: readonly Row[] = [
  ...onMemory.filter(({ attack }) => attack !== 'unreadAnswers'),
  { attack: 'fullSpeed', gets: answers(200) },
];

const byAgent = { sender: 'an agent', targeted: target };
const byOwner = { sender: 'a member', targeted: () => memberTarget(inWorkspace(everyPage)) };
const isClosed = ({ closed }: Outcome) => expect(closed).toBeGreaterThan(0);
const isRefused = (status: number) => (outcome: Outcome) => {
  answers(status)(outcome);
  isNeverAnswered(outcome);
};

/** Attacks that are costly when their connections begin. */
const atFirst: readonly (Row & typeof byAgent)[] = [
  { attack: 'pipelined', ...byAgent, gets: isClosed },
  { attack: 'pipelined', ...byOwner, gets: isClosed },
  { attack: 'bodiesOfSingleBytes', ...byAgent, gets: isRefused(400) },
  { attack: 'bodiesOfSingleBytes', ...byOwner, gets: isRefused(411) },
];

interface Flood extends Row {
  readonly of: string;
  readonly query: () => string;
}

/** The most that a member may ask of the backend, while another workspace is changed. */
const floods: readonly Flood[] = [
  {
    ...{ of: 'the most text', attack: 'costlyQuestions', query: () => `{ workspace(name: "Large") { ${mostText} } }` },
    gets: ({ connections }) => expect(connections).toBe(4),
  },
  {
    ...{ of: 'pages', attack: 'pipelinedQuestions', query: () => inWorkspace(everyPage) },
    gets: (outcome) => expect(outcome).toMatchObject({ 200: some, 429: some }),
  },
  {
    ...{ of: 'changes', attack: 'pipelinedQuestions', query: () => describeSkill('flooded', a.same.skill) },
    gets: (outcome) => expect(outcome).toMatchObject({ 200: some, 429: some }),
  },
];

onEachTopology(
  (topology) => {
    beforeAll(() => start(topology), startTimeoutMs);
    afterAll(() => platform[Symbol.asyncDispose](), startTimeoutMs);

    describe('the victim does not notice', () => {
      test.each([...onMemory, ...onPlaces])('$attack', async ({ attack: name, gets }) => {
        const to = await rested(await target());
        gets(await victim.expectUndisturbedBy(() => attack(name, to)));
      });

      // Embedded, the backend shares a process with what the victim talks to.
      test.each(topology === 'embedded' ? byMember : [])('$attack of a member', async ({ attack: name, gets }) => {
        const to = await rested(await memberTarget(inWorkspace(everyPage)));
        gets(await victim.expectUndisturbedBy(() => attack(name, to)));
      });

      // Node parses the first 64 KiB of each connection before the platform sees a byte. A hundred connections at once take it a second.
      test.each(atFirst)('$attack of $sender, but for one moment', async ({ attack: name, targeted, gets }) => {
        const to = await targeted();
        gets(await victim.expectUndisturbedBy(() => attack(name, to), { quantile: 0.9 }));
      });
    });

    test.each(floods)(
      'another workspace is changed while a member asks for $of',
      async ({ attack: name, query, gets }) => {
        const to = await memberTarget(query());
        const backend = await platform.backend();
        const before = memoryBytes();
        let attacking = true;
        const attacked = attack(name, to).finally(() => {
          attacking = false;
        });
        const tookMs: number[] = [];
        while (attacking) {
          const began = performance.now();
          const change = describeSkill(`change ${tookMs.length}`, b.same.skill);
          await backend.query(change, { w: b.workspace }, () => undefined);
          tookMs.push(performance.now() - began);
        }
        gets(await attacked);
        expect(tookMs.length).toBeGreaterThan(1);
        expect(Math.max(...tookMs)).toBeLessThan(3000);
        // Garbage included, which is collected late where a machine has room.
        expect(memoryBytes() - before).toBeLessThan(4 * totalBytes);
      },
    );

    test('the memory of the platform stays bounded, and is freed after two attacks', async () => {
      const begun = memoryBytes();
      const attackAll = async () => {
        const to = await target();
        await Promise.all(bodies.map((name) => attack(name, to)));
      };
      const live = await liveBytes(pid);
      for (let attacks = 0; attacks < 2; attacks++) {
        await attackAll();
        expect(memoryBytes() - begun).toBeLessThan(totalBytes);
      }
      // The platform reads refused bodies for ten more seconds.
      await until(async () => (await liveBytes(pid)) <= live * 1.1, 30_000);
    });

    test('a new key gets in while unknown keys are tried', async () => {
      const to = await target();
      const attacking = attack('unknownKeys', to);
      const began = performance.now();
      await until(async () => (await send(platform.mcpUrl, { key: b.only.keyText, body: ping })).status === 200, 2000);
      expect(performance.now() - began).toBeLessThan(2000);
      await attacking;
    });

    test('strangers write a few lines a minute to the log, however much they ask', async () => {
      const to = await target();
      const lines = async () => (await platform.run(['logs', '--lines', '100000'])).stdout.split('\n').length;
      const before = await lines();
      const { 401: refused } = await attack('wrongKeys', to);
      expect(refused).toBeGreaterThan(500);
      expect((await lines()) - before).toBeLessThan(10);
    });
  },
  { isLong: true },
);

const bodies: readonly HttpAttack[] = ['unfinishedBodies', 'bodiesOfSingleBytes', 'bodiesThatStop', 'unreadAnswers'];

/** What all requests together may hold in memory (services/remote-mcp/http/agent-memory.ts). */
const totalBytes = 256 * 1024 * 1024;

function memoryBytes(): number {
  const [, kibibytes] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kibibytes) * 1024;
}
