import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { graphqlPath } from '../../../services/contracts/token.ts';
import { openSession, ping, rpc, send } from '../../../services/remote-mcp/test/raw.ts';
import type { Topology } from '../../definition/definition.ts';
import { type Home, startTwoHomes } from '../homes.ts';
import { type Platform, startTimeoutMs, testTimeoutMs, until } from '../platform.ts';
import { attack } from './hostile-agent.ts';
import type { HttpAttack, Outcome, Target } from './http-attacks.ts';
import { memberToken } from './member-token.ts';
import { onEachTopology } from './on-each-topology.ts';
import { Victim } from './victim.ts';

vi.setConfig({ testTimeout: testTimeoutMs });

/**
 * The attacker has a good API key of workspace A, the token of its owner, or none, and writes every byte of its requests. The victim is an agent of workspace B: it must get
 * the same answers, with a p99 of at most five times the idle one, or `noticedMs`. Each attack lasts 1.5 s, in a process of the lowest priority.
 */
let platform: Platform;
let a: Home;
let b: Home;
let victim: Victim;
/** Of remote-mcp, which agents talk to. */
let pid: number;

async function start(topology: Topology): Promise<void> {
  ({ platform, a, b } = await startTwoHomes({ topology }));
  const { services } = await platform.svc('status');
  pid = services.find(({ name }: { readonly name: string }) => name === 'remote-mcp').pid;
  const [mcpUrl, key] = [`${platform.mcpUrl}?skillIds=${b.same.skill}`, b.same.keyText];
  victim = await Victim.start({ mcpUrl, key, tool: 'get-env', arguments: {}, answer: b.mark, noticedMs });
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

/** The owner of workspace A asks the backend. */
async function memberTarget(): Promise<Target> {
  const page = '{ skills { nodes { name tools { name } mcpServers { name status } } } }';
  return {
    url: `http://127.0.0.1:${platform.ports.backend}${graphqlPath}`,
    key: await memberToken(platform.installation, a.owner.id),
    session: '',
    question: { query: `query ($w: ID!) { workspace(id: $w) ${page} }`, variables: { w: a.workspace } },
  };
}

/** One thread of an embedded platform reads, routes and answers a message. With one of 4 MiB it is busy for some 50 ms, and several may come together. */
const noticedMs = 250;

/** What the attacker must get beside what the victim gets. */
interface Row {
  readonly attack: HttpAttack;
  readonly gets: (outcome: Outcome) => void;
}

const some = expect.any(Number);

/** Attacks that fill memory. What one key can hold is bounded, and what it held is given back. */
const onMemory: readonly Row[] = [
  { attack: 'unfinishedBodies', gets: (outcome) => expect(outcome).toMatchObject({ 429: some }) },
  { attack: 'bodiesThatStop', gets: (outcome) => expect(outcome).toMatchObject({ 429: some }) },
  { attack: 'unreadAnswers', gets: () => undefined },
  { attack: 'wideBodies', gets: (outcome) => expect(outcome[200]).toBe(undefined) },
  { attack: 'deepBodies', gets: (outcome) => expect(outcome).toMatchObject({ 400: some }) },
];

/** Attacks that fill places or take time. */
const onPlaces: readonly Row[] = [
  { attack: 'sessions', gets: (outcome) => expect(outcome).toMatchObject({ 200: some }) },
  { attack: 'streams', gets: (outcome) => expect(outcome).toMatchObject({ 200: some }) },
  { attack: 'pipelined', gets: ({ closed }) => expect(closed).toBeGreaterThan(0) },
  { attack: 'fullSpeed', gets: (outcome) => expect(outcome).toMatchObject({ 200: some }) },
  { attack: 'unknownKeys', gets: (outcome) => expect(outcome[200]).toBe(undefined) },
  {
    attack: 'wrongKeys',
    gets: (outcome) => expect(Object.keys(outcome).sort()).toEqual(['401', 'closed', 'connections']),
  },
  { attack: 'idleConnections', gets: (outcome) => expect(outcome).toMatchObject({ 200: some }) },
  { attack: 'unfinishedHeads', gets: (outcome) => expect(outcome[200]).toBe(undefined) },
  { attack: 'hugeHeads', gets: (outcome) => expect(outcome).toMatchObject({ 431: some }) },
];

/** The same attacks on the backend, with a query that asks for as much as one request may. */
const byMember: readonly Row[] = [
  { attack: 'unfinishedBodies', gets: (outcome) => expect(outcome).toMatchObject({ 429: some }) },
  { attack: 'bodiesThatStop', gets: (outcome) => expect(outcome).toMatchObject({ 429: some }) },
  { attack: 'wideBodies', gets: (outcome) => expect(outcome[200]).toBe(undefined) },
  { attack: 'deepBodies', gets: (outcome) => expect(outcome).toMatchObject({ 400: some }) },
  { attack: 'pipelined', gets: ({ closed }) => expect(closed).toBeGreaterThan(0) },
  { attack: 'fullSpeed', gets: (outcome) => expect(outcome).toMatchObject({ 200: some }) },
];

onEachTopology(
  (topology) => {
    beforeAll(() => start(topology), startTimeoutMs);
    afterAll(() => platform[Symbol.asyncDispose](), startTimeoutMs);

    describe('the victim does not notice', () => {
      test.each([...onMemory, ...onPlaces])('$attack', async ({ attack: name, gets }) => {
        const to = await target();
        gets(await victim.expectUndisturbedBy(() => attack(name, to)));
      });

      // Embedded, the backend shares a process with what the victim talks to.
      test.each(topology === 'embedded' ? byMember : [])('$attack of a member', async ({ attack: name, gets }) => {
        const to = await memberTarget();
        gets(await victim.expectUndisturbedBy(() => attack(name, to)));
      });

      // Node parses the first 64 KiB of each connection before the platform sees a byte. A hundred connections at once take it a second.
      test.each([
        { sender: 'an agent', targeted: target, status: 400 },
        { sender: 'a member', targeted: memberTarget, status: 411 },
      ])("'bodiesOfSingleBytes' of $sender, but for one moment", async ({ targeted, status }) => {
        const to = await targeted();
        const outcome = await victim.expectUndisturbedBy(() => attack('bodiesOfSingleBytes', to), { quantile: 0.9 });
        expect(outcome).toMatchObject({ [status]: some });
        expect(outcome[200]).toBe(undefined);
      });
    });

    test('the memory of the platform stays bounded, and does not grow from one attack to the next', async () => {
      const begun = memoryBytes();
      const attackAll = async () => {
        const to = await target();
        await Promise.all(bodies.map((name) => attack(name, to)));
      };
      await attackAll();
      const first = memoryBytes();
      expect(first - begun).toBeLessThan(totalBytes);
      await attackAll();
      await until(() => memoryBytes() <= first * 1.1);
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
