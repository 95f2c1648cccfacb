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
 * The attacker has a good API key of workspace A, the token of its owner, or none, and writes every byte of its requests. The victim is an agent of workspace B: it must get
 * the same answers, with a p99 of at most five times the idle one, or 50 ms. Each attack lasts 1.5 s, in a process of the lowest priority.
 */
let homes: TwoHomes;
let victim: Victim;
/** Of remote-mcp, which agents talk to. */
let pid: number;

async function start(topology: Topology): Promise<void> {
  homes = await startTwoHomes({ topology });
  await storeLargeSkills();
  pid = (await homes.platform.services()).get('remote-mcp')?.pid ?? expect.fail();
  victim = await startVictim(homes);
}

async function target(): Promise<Target> {
  const { mcpUrl: url } = homes.platform;
  const { keyText: key, skill } = homes.a.same;
  return {
    url,
    key,
    session: await openSession(`${url}?skillIds=${skill}`, key),
    question: rpc('tools/list', undefined, 1),
  };
}

const everyPage = 'skills { nodes { name tools { name } mcpServers { name status } } }';
/** The instructions of every skill, as often as one query may ask for them. */
const mostText = Array.from({ length: 50 }, (_, i) => `a${i}: skills(first: 100) { nodes { instructions } }`).join(' ');

/** The owner of workspace A asks the backend. */
async function memberTarget(query: string): Promise<Target> {
  const { platform, a } = homes;
  const url = `http://127.0.0.1:${platform.ports.backend}${graphqlPath}`;
  const key = await memberToken(platform, a.owner.id);
  return { url, key, session: '', question: { query, variables: { w: a.workspace } } };
}

/**
 * Waits until a large message of the sender is answered: large messages are read in turn, and those of the row before come first. Each try has a
 * connection of its own. The platform closes the connection of a refused body, and the victim must not find such a one in a shared pool.
 */
async function rested(target: Target): Promise<Target> {
  const large = JSON.stringify(target.question).padEnd(mebibyte);
  await until(async () => (await statusOf(target, large, 10_000)) === '200');
  return target;
}

const inWorkspace = (fields: string) => `query ($w: ID!) { workspace(id: $w) { ${fields} } }`;
const describeSkill = (skill: string) =>
  `mutation ($w: ID!) { updateSkill(workspace: $w, id: "${skill}", input: { description: "flooded" }) { version } }`;

/** The owner of workspace A has another workspace, with as many skills as a page has, each with the longest instructions. */
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
  /** What the attacker must get beside what the victim gets. */
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

/** Attacks that fill memory. What one key or user can hold is bounded, and what it held is given back. */
const onMemory: readonly Row[] = [
  { attack: 'unfinishedBodies', gets: answers(429) },
  { attack: 'bodiesThatStop', gets: answers(429) },
  { attack: 'wideBodies', gets: isNeverAnswered },
  { attack: 'deepBodies', gets: answers(400) },
  { attack: 'fullSpeed', gets: answers(200) },
];

/** Attacks of an agent that fill places or take time. */
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
 * Attacks that are costly when their connections begin: Node parses the first 64 KiB of each connection before the platform sees a byte. A hundred
 * connections at once take it a second.
 */
const atFirst = { quantile: 0.9 };

function rowsOn(topology: Topology) {
  return [
    ...[...onMemory, ...onPlaces].map((row) => ({ ...row, ...byAgent })),
    // Embedded, the backend shares a process with what the victim talks to.
    ...(topology === 'embedded' ? onMemory.map((row) => ({ ...row, ...byOwner })) : []),
    { attack: 'pipelined', gets: isClosed, ...byAgent, ...atFirst },
    { attack: 'pipelined', gets: isClosed, ...byOwner, ...atFirst },
    { attack: 'bodiesOfSingleBytes', gets: isRefused(400), ...byAgent, ...atFirst },
    { attack: 'bodiesOfSingleBytes', gets: isRefused(411), ...byOwner, ...atFirst },
  ] as const;
}

const answersSome = (outcome: Outcome) => expect(outcome).toMatchObject({ 200: some, 429: some });

/** The most that a member may ask of the backend, while another workspace is changed. */
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
      // Garbage included, which is collected late where a machine has room.
      expect(residentBytes(pid) - before).toBeLessThan(4 * totalBytes);
    });

    test('the memory of the platform stays bounded, and is freed after two attacks', async () => {
      const begun = residentBytes(pid);
      const attackAll = async () => {
        const to = await target();
        await Promise.all(bodies.map((name) => attack(name, to)));
      };
      const live = await liveBytes(pid);
      for (let attacks = 0; attacks < 2; attacks++) {
        await attackAll();
        expect(residentBytes(pid) - begun).toBeLessThan(totalBytes);
      }
      // The platform reads refused bodies for ten more seconds.
      await until(async () => (await liveBytes(pid)) <= live * 1.1, 30_000);
    });

    test('a new key gets in while unknown keys are tried', async () => {
      const attacking = attack('unknownKeys', await target());
      const { platform, b } = homes;
      const request = { key: b.only.keyText, body: ping };
      await until(async () => (await send(platform.mcpUrl, request)).status === 200, 2000);
      await attacking;
    });

    test('strangers write a few lines a minute to the log, however much they ask', async () => {
      const to = await target();
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

/** What all requests together may hold in memory (services/remote-mcp/http/agent-memory.ts). */
const totalBytes = 256 * 1024 * 1024;
