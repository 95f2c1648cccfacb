import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { type Agent, agentOf, type Call, type Outcome } from './agents.ts';
import { startChaosPlatform } from './chaos-platform.ts';
import type { Fault } from './engine-in-hand.ts';
import { faultsOf } from './faults.ts';
import { readOptions } from './options.ts';
import { commandsOf, type Holding, holdingOf, leaks, unnoticed } from './remains.ts';
import { writeUntil } from './writer.ts';

/**
 * `npm run chaos`: fifty agents work while parts are taken away one by one, again and again, in an order from the
 * seed, until time is over. Everything runs on this machine, on 127.0.0.1, and ends by itself.
 */
const options = await readOptions(process.argv.slice(2));

const agentsCount = 50;
const callEveryMs = 250;
const restMs = 3000;
const looksMax = 5;
/** For this long after everything is healthy, calls may still fail; then, for a while, none may. */
const settleMs = 5000;
const watchMs = 2000;
const healthyWithinMs = 60_000;

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

async function run(): Promise<void> {
  const stop = new AbortController();
  const echo = { tool: 'echo', argument: 'text' };
  const calling = { ...platform, echo, everyMs: callEveryMs, onCall: (call: Call) => calls.push(call) };
  const agents = Array.from({ length: agentsCount }, (_, number) => agentOf(number, calling));
  const working = Promise.all(agents.map((agent) => agent.work(stop.signal)));
  const writing = writeUntil(stop.signal, platform.platform);
  await pause(restMs);
  const before = await holdingOf(platform);
  const blind = await unnoticed(platform, before);
  if (blind.length > 0) problems.push(`the search for leaks does not see: ${blind.join(', ')}`);
  if (platform.clock === null)
    process.stdout.write('left out: setting the clocks, which takes libfaketime and processes\n');
  const all = faultsOf(platform, options.away * 1000);
  const faults = all.filter(({ name }) => name.includes(options.only));
  if (faults.length === 0) problems.push(`nothing goes wrong that is called "${options.only}"`);
  const deadline = performance.now() + options.seconds * 1000;
  for (let round = 0; performance.now() < deadline && faults.length > 0; round++) {
    for (const fault of inOrder(faults, round)) if (performance.now() < deadline) await suffer(fault, agents);
  }
  await pause(restMs);
  let after: Holding = await holdingOf(platform);
  // A leak stays. A check that runs inside a container ends, and another may run at the next look.
  for (let looked = 1; leaks(before, after).length > 0 && looked < looksMax; looked++) {
    await pause(restMs);
    after = await holdingOf(platform);
  }
  stop.abort();
  await working;
  const { acknowledged, lost } = await writing;
  if (lost.length > 0) problems.push(`${lost.length} acknowledged writes are lost: ${lost.slice(0, 5).join(', ')}`);
  const left = leaks(before, after);
  problems.push(...left.map((leak) => `left behind: ${leak}`));
  if (left.length > 0) process.stdout.write(`running:\n  ${(await commandsOf(platform)).join('\n  ')}\n`);
  process.stdout.write(`${acknowledged} writes acknowledged\n`);
}

/** Runs one fault and its recovery, and prints the calls meanwhile. */
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
  const summaries = groups.map(([outcome, some]) => `${some?.length} ${outcome} (${some?.[0]?.told})`);
  return summaries.length === 0 ? 'none failed' : summaries.join(', ');
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

/** An order that depends only on the seed: the same seed repeats the same faults. */
function inOrder(faults: readonly Fault[], round: number): readonly Fault[] {
  const place = ({ name }: Fault) => createHash('sha256').update(`${options.seed} ${round} ${name}`).digest('hex');
  return faults.toSorted((one, other) => place(one).localeCompare(place(other)));
}
