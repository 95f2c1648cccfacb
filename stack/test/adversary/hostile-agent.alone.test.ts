import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { graphqlPath } from '../../../services/contracts/token.ts';
import { instructionsMaxBytes } from '../../../services/contracts/workspace-limits.ts';
import { openSession, ping, rpc, send } from '../../../services/remote-mcp/test/raw.ts';
import {
  createSkillMutation,
  createWorkspaceMutation,
  updateSkillMutation,
} from '../../client/generated/operations.ts';
import type { Topology } from '../../settings/choices.ts';
import { residentBytes } from '../bench/processes.ts';
import { startTwoHomes, type TwoHomes } from '../homes.ts';
import { startTimeoutMs, testTimeoutMs } from '../platform.ts';
import { until } from '../until.ts';
import { attack, type HttpAttack, type Outcome, statusOf, type Target } from './http-attacks.ts';
import { liveBytes } from './live-memory.ts';
import { memberToken } from './member-token.ts';
import { onEachTopology } from './on-each-topology.ts';
import { startVictim, type Victim } from './victim.ts';

const mebibyte = 1024 * 1024;
vi.setConfig({ testTimeout: testTimeoutMs });

/**
 * The attacker has a valid API key of workspace A, its owner's token, or no key, and writes every byte of its
 * requests. The victim, an agent of workspace B, must get the same answers, with a p99 of at most five times the idle
 * one or 50 ms.
 */
let homes: TwoHomes;
let victim: Victim;
/** The process of remote-mcp, which serves agents. */
let pid: number;
/** The attacker's own session. It is opened once: the attack `sessions` may leave the key no room for another one. */
let session: string;

async function start(topology: Topology): Promise<void> {
  homes = await startTwoHomes({ topology });
  await storeLargeSkills();
  pid = (await homes.platform.services()).get('remote-mcp')?.pid ?? expect.fail();
  victim = await startVictim(homes);
  const { keyText, skill } = homes.a.same;
  session = await openSession(`${homes.platform.mcpUrl}?skillIds=${skill}`, keyText);
}

function target(): Target {
  const { mcpUrl: url } = homes.platform;
  return { url, key: homes.a.same.keyText, session, question: rpc('tools/list', undefined, 1) };
}

const everyPage = 'skills { nodes { name tools { name } mcpServers { name status } } }';
/** Selects the instructions of every skill as many times as one query may. */
const mostText = Array.from({ length: 50 }, (_, i) => `a${i}: skills(first: 100) { nodes { instructions } }`).join(' ');

/** A query to the backend by the owner of workspace A. */
async function memberTarget(query: string): Promise<Target> {
  const { platform, a } = homes;
  const backendUrl = `http://127.0.0.1:${platform.ports.backend}`;
  const key = await memberToken(platform.installation, backendUrl, a.owner.email);
  return { url: backendUrl + graphqlPath, key, session: '', question: { query, variables: { w: a.workspace } } };
}

/**
 * Waits until a large message of the sender is answered: large messages are read in turn, after those of the previous
 * row. Each try has its own connection: the platform closes it after a refused body, and the victim must not find it
 * in a shared pool.
 */
async function rested(target: Target): Promise<Target> {
  const large = Buffer.from(JSON.stringify(target.question).padEnd(mebibyte));
  await until(async () => (await statusOf(target, large, 10_000)) === '200');
  return target;
}

const inWorkspace = (fields: string) => `query ($w: ID!) { workspace(id: $w) { ${fields} } }`;
const describeSkill = (skill: string) =>
  `mutation ($w: ID!) { updateSkill(workspace: $w, id: "${skill}", input: { description: "flooded" }) { version } }`;

/** Gives the owner of workspace A another workspace, with a full page of skills that have the longest instructions. */
async function storeLargeSkills(): Promise<void> {
  const { backend, a } = homes;
  const input = { name: 'Large', ownerEmail: a.owner.email };
  const workspace = (await backend.send(createWorkspaceMutation, { input })).createWorkspace.id;
  const instructions = 'x'.repeat(instructionsMaxBytes);
  for (let i = 0; i < 100; i++) {
    await backend.send(createSkillMutation, { workspace, input: { name: `large-${i}`, instructions } });
  }
}

interface Row {
  readonly attack: HttpAttack;
  /** Checks the attacker's outcome; the victim's calls are checked for every row. */
  readonly gets: (outcome: Outcome) => void;
}

const some = expect.any(Number);
const answers = (status: number) => (outcome: Outcome) => expect(outcome).toMatchObject({ [status]: some });
const isNeverAnswered = (outcome: Outcome) => expect(outcome[200]).toBe(undefined);
const isClosed = ({ closed }: Outcome) => expect(closed).toBeGreaterThan(0);
const isRefused = (status: number) => (outcome: Outcome) => {
  answers(status)(outcome);
  isNeverAnswered(outcome);
};

/** Attacks that fill memory. The platform bounds the memory of one key or user, and releases it afterwards. */
const onMemory: readonly Row[] = [
  { attack: 'unfinishedBodies', gets: answers(429) },
  { attack: 'bodiesThatStop', gets: answers(429) },
  { attack: 'wideBodies', gets: isNeverAnswered },
  { attack: 'deepBodies', gets: answers(400) },
  { attack: 'fullSpeed', gets: answers(200) },
];

/** Attacks of an agent that occupy slots or take time. */
const onPlaces: readonly Row[] = [
  { attack: 'unreadAnswers', gets: () => undefined },
  { attack: 'sessions', gets: answers(200) },
  { attack: 'streams', gets: answers(200) },
  { attack: 'unknownKeys', gets: isNeverAnswered },
  { attack: 'wrongKeys', gets: (all) => expect(Object.keys(all).sort()).toEqual(['401', 'closed', 'connections']) },
  { attack: 'idleConnections', gets: answers(200) },
  { attack: 'unfinishedHeads', gets: isNeverAnswered },
  { attack: 'hugeHeads', gets: answers(431) },
];

const byAgent = { sender: 'an agent', targeted: target, quantile: 0.99 };
const byOwner = { sender: 'a member', targeted: () => memberTarget(inWorkspace(everyPage)), quantile: 0.99 };
/**
 * Attacks that are costly at the start of their connections. Node parses the first 64 KiB of each before the platform
 * sees a byte, and a hundred connections at once take it a second.
 */
const atFirst = { quantile: 0.9 };

function rowsOn(topology: Topology) {
  return [
    ...[...onMemory, ...onPlaces].map((row) => ({ ...row, ...byAgent })),
    // Embedded, the backend shares a process with remote-mcp, which serves the victim.
    ...(topology === 'embedded' ? onMemory.map((row) => ({ ...row, ...byOwner })) : []),
    { attack: 'pipelined', gets: isClosed, ...byAgent, ...atFirst },
    { attack: 'pipelined', gets: isClosed, ...byOwner, ...atFirst },
    { attack: 'bodiesOfSingleBytes', gets: isRefused(400), ...byAgent, ...atFirst },
    { attack: 'bodiesOfSingleBytes', gets: isRefused(411), ...byOwner, ...atFirst },
  ] as const;
}

const answersSome = (outcome: Outcome) => expect(outcome).toMatchObject({ 200: some, 429: some });

/** The most expensive requests that a member may send to the backend, while another workspace is changed. */
const floods: readonly (readonly [of: string, HttpAttack, query: () => string, Row['gets']])[] = [
  [
    'the most text',
    'costlyQuestions',
    () => `{ workspace(name: "Large") { ${mostText} } }`,
    ({ connections }) => expect(connections).toBe(4),
  ],
  ['pages', 'pipelinedQuestions', () => inWorkspace(everyPage), answersSome],
  ['changes', 'pipelinedQuestions', () => describeSkill(homes.a.same.skill), answersSome],
];

onEachTopology(
  (topology) => {
    beforeAll(() => start(topology), startTimeoutMs);
    afterAll(() => homes.platform[Symbol.asyncDispose](), startTimeoutMs);

    test.each(rowsOn(topology))(
      'the victim does not notice $attack of $sender',
      async ({ attack: name, gets, targeted, quantile }) => {
        const to = await rested(await targeted());
        gets(await victim.expectUndisturbedBy(() => attack(name, to), { quantile }));
      },
    );

    test.each(floods)('another workspace is changed while a member asks for %s', async (_, name, query, gets) => {
      const to = await memberTarget(query());
      const { backend, b } = homes;
      const before = residentBytes(pid);
      let attacking = true;
      const attacked = attack(name, to).finally(() => {
        attacking = false;
      });
      const tookMs: number[] = [];
      while (attacking) {
        const began = performance.now();
        const input = { description: `change ${tookMs.length}` };
        await backend.send(updateSkillMutation, { workspace: b.workspace, id: b.same.skill, input });
        tookMs.push(performance.now() - began);
      }
      gets(await attacked);
      expect(tookMs.length).toBeGreaterThan(1);
      expect(Math.max(...tookMs)).toBeLessThan(3000);
      // This includes garbage, which Node collects late on a machine with free memory.
      expect(residentBytes(pid) - before).toBeLessThan(4 * totalBytes);
    });

    test('the memory of the platform stays bounded, and is freed after two attacks', async () => {
      const begun = residentBytes(pid);
      const attackAll = async () => {
        const to = target();
        await Promise.all(bodies.map((name) => attack(name, to)));
      };
      const live = await liveBytes(pid);
      for (let attacks = 0; attacks < 2; attacks++) {
        await attackAll();
        expect(residentBytes(pid) - begun).toBeLessThan(totalBytes);
      }
      // The platform continues to read a refused body for ten seconds.
      await until(async () => (await liveBytes(pid)) <= live * 1.1, 30_000);
    });

    test('a new key gets in while unknown keys are tried', async () => {
      const attacking = attack('unknownKeys', target());
      const { platform, b } = homes;
      const request = { key: b.only.keyText, body: ping };
      await until(async () => (await send(platform.mcpUrl, request)).status === 200, 2000);
      await attacking;
    });

    test('strangers write a few lines a minute to the log, however much they ask', async () => {
      const to = target();
      const lines = async () => (await homes.platform.run(['logs', '--lines', '100000'])).stdout.split('\n').length;
      const before = await lines();
      const { 401: refused } = await attack('wrongKeys', to);
      expect(refused).toBeGreaterThan(500);
      expect((await lines()) - before).toBeLessThan(10);
    });
  },
  { isLong: true },
);

const bodies: readonly HttpAttack[] = ['unfinishedBodies', 'bodiesOfSingleBytes', 'bodiesThatStop', 'unreadAnswers'];

/** Limit of memory for all requests together (services/remote-mcp/http/agent-memory.ts). */
const totalBytes = 256 * 1024 * 1024;
