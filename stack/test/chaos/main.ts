import { setTimeout as pause } from 'node:timers/promises';
import { type Agent, agentOf, type Call, type Outcome } from './agents.ts';
import { startChaosPlatform } from './chaos-platform.ts';
import type { Fault } from './engine-in-hand.ts';
import { faultsOf } from './faults.ts';
import { type ChaosOptions, readOptions, usage } from './options.ts';
import { type Holding, holdingOf, leaks, unnoticed } from './remains.ts';
import { openWriter } from './writer.ts';

/**
 * `npm run chaos`: fifty agents at steady work while one part after the other is taken away, in an order that the seed gives, then parts at random
 * until the time is over. Everything runs on this machine, on 127.0.0.1, and ends by itself.
 */
const options = optionsOrExit();

const agentsCount = 50;
const callEveryMs = 250;
const restMs = 3000;
/** After everything is well again, this long may calls still fail; then none may for a while. */
const settleMs = 5000;
const watchMs = 2000;
const healthyWithinMs = 60_000;

const random = randomOf(options.seed);
const problems: string[] = [];
const calls: Call[] = [];
process.stdout.write(`seed ${options.seed}\n`);

const platform = await startChaosPlatform(options);
try {
  await run();
} finally {
  await platform.stop();
}
problems.push(...(await platform.engine.left()).map((left) => `left behind: ${left}`));
// Fails when processes or ports are left.
await platform.platform[Symbol.asyncDispose]().catch((error: Error) => problems.push(`left behind: ${error.message}`));
tell();

function optionsOrExit(): ChaosOptions {
  try {
    const given = readOptions(process.argv.slice(2));
    if (given !== null) return given;
    process.stdout.write(usage);
    process.exit(0);
  } catch (thrown) {
    process.stderr.write(`${thrown instanceof Error ? thrown.message : String(thrown)}\n\n${usage}`);
    process.exit(2);
  }
}

async function run(): Promise<void> {
  const stop = new AbortController();
  const agents = Array.from({ length: agentsCount }, (_, i) => {
    const onCall = (call: Call) => calls.push(call);
    const { urls, key } = platform;
    return agentOf(i, { urls, key, echo: { tool: 'echo', argument: 'text' }, everyMs: callEveryMs, onCall });
  });
  const writer = await openWriter(platform.platform);
  const work = Promise.all([...agents.map((agent) => agent.work(stop.signal)), writer.work(stop.signal)]);
  await pause(restMs);
  const before = await holdingOf(platform);
  const blind = await unnoticed(platform, before);
  if (blind.length > 0) problems.push(`the search for leaks does not see: ${blind.join(', ')}`);
  const parts = (await platform.status()).services.map(({ name }) => name);
  if (platform.clock === null)
    process.stdout.write('left out: setting the clocks, which takes libfaketime and processes\n');
  const all = faultsOf(platform, { parts, longAwayMs: options.away * 1000 });
  const faults = all.filter(({ name }) => name.includes(options.only));
  if (faults.length === 0) problems.push(`nothing goes wrong that is called "${options.only}"`);
  const deadline = performance.now() + options.seconds * 1000;
  for (const fault of shuffled(faults)) if (performance.now() < deadline) await suffer(fault, agents);
  while (performance.now() < deadline) {
    const fault = faults[Math.floor(random() * faults.length)];
    if (fault === undefined) break;
    await suffer(fault, agents);
  }
  await pause(restMs);
  let after: Holding = await holdingOf(platform);
  // A leak stays. What looks at a container from inside is gone a moment later.
  if (leaks(before, after).length > 0) {
    await pause(restMs);
    after = await holdingOf(platform);
  }
  stop.abort();
  await work;
  const lost = await writer.lost();
  if (lost.length > 0) problems.push(`${lost.length} acknowledged writes are lost: ${lost.slice(0, 5).join(', ')}`);
  problems.push(...leaks(before, after).map((leak) => `left behind: ${leak}`));
  process.stdout.write(`${writer.acknowledged.length} writes acknowledged\n`);
}

/** One fault, its healing, and what calls saw of it. */
async function suffer({ name, happen }: Fault, agents: readonly Agent[]): Promise<void> {
  const from = performance.now();
  await happen();
  const given = performance.now();
  await platform.healthy(healthyWithinMs);
  const healthy = performance.now();
  await pause(settleMs);
  const settled = performance.now();
  await pause(watchMs);
  const during = calls.filter(({ begun }) => begun >= from);
  const failed = during.filter(({ outcome }) => outcome !== 'answered');
  const late = failed.filter(({ ended }) => ended > settled);
  if (late.length > 0) problems.push(`after "${name}", ${late.length} calls still failed: ${late[0]?.told}`);
  const waiting = agents.filter((agent) => (agent.waitsSince() ?? settled) < settled).length;
  if (waiting > 0) problems.push(`after "${name}", ${waiting} calls still waited`);
  const lastFailure = Math.max(given, ...failed.map(({ ended }) => ended));
  process.stdout.write(
    `${name}: ${during.length} calls, ${describe(failed)}, ${waiting} still waited; healthy ${seconds(healthy - given)} after, the last failure ${seconds(lastFailure - given)} after\n`,
  );
}

function describe(failed: readonly Call[]): string {
  const groups = Object.entries(Object.groupBy(failed, ({ outcome }) => outcome));
  const said = groups.map(([outcome, some]) => `${some?.length} ${outcome} (${some?.[0]?.told})`);
  return said.length === 0 ? 'none failed' : said.join(', ');
}

function tell(): void {
  const never: readonly Outcome[] = ['wrong', 'late', 'unexplained', 'session lost'];
  for (const outcome of never) {
    const some = calls.filter((call) => call.outcome === outcome);
    if (some.length > 0) problems.push(`${some.length} calls: ${outcome}, such as ${some[0]?.told}`);
  }
  process.stdout.write(`${calls.length} calls, ${describe(calls.filter(({ outcome }) => outcome !== 'answered'))}\n`);
  for (const problem of problems) process.stdout.write(`PROBLEM ${problem}\n`);
  process.stdout.write(problems.length === 0 ? 'nothing wrong was seen\n' : `${problems.length} problems\n`);
  process.exitCode = problems.length === 0 ? 0 : 1;
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

function shuffled<Item>(items: readonly Item[]): readonly Item[] {
  return items
    .map((item) => ({ item, at: random() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ item }) => item);
}

/** Mulberry32: the same faults again for the same seed. */
function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
