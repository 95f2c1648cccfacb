import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { createWorkspaceMutation } from '../../client/generated/operations.ts';
import type { BenchPlatform } from './bench-platform.ts';
import { atMost, type Figure, reported } from './figure.ts';
import { quantile, steadily } from './load.ts';

const perSecond = 300;
/** Before and after each disturbance: a shared machine is not equally quiet at all times. */
const quietMs = 5000;
/** A disturbance may take this long; calls go on until it has ended. */
const disturbedMaxMs = 120_000;
const timesIdle = 5;

/** The p99 of a quiet platform, and of the same platform while something large goes on beside the calls, compared in pairs. */
export async function measureDisturbances(platform: BenchPlatform): Promise<Figure[]> {
  const disturbances: Readonly<Record<string, () => Promise<void>>> = {
    'a browser pages 100,000 nodes': await pagingOf(platform),
    'a catalogue of 10,000 tools is rebuilt': () => rebuildCatalogue(platform),
    '1,000 skills are applied': () => applySkills(platform),
    'a child sends a 50 MB line': () => sendLongLine(platform),
  };
  const quietly = () => during(() => pause(quietMs), platform);
  const figures: Figure[] = [];
  const quiet = [await quietly()];
  for (const [what, disturb] of Object.entries(disturbances)) {
    const latencies = await during(disturb, platform);
    quiet.push(await quietly());
    const idle = quantile(quiet.slice(-2).flat(), 0.99);
    const numbers = { idle, latencies: summary(latencies) };
    figures.push(atMost(`echo p99 while ${what}`, quantile(latencies, 0.99) / idle, timesIdle, '× idle', numbers));
  }
  return [reported('echo p99 of the quiet platform', quantile(quiet.flat(), 0.99), 'ms'), ...figures];
}

/** Calls in slices of half a second for as long as the disturbance lasts. */
async function during(disturb: () => Promise<void>, platform: BenchPlatform): Promise<number[]> {
  const callers = await platform.side().callers(8);
  await steadily(callers, perSecond, 2000);
  let done = false;
  const disturbance = disturb().finally(() => {
    done = true;
  });
  const latencies: number[] = [];
  const deadline = performance.now() + disturbedMaxMs;
  while (!done && performance.now() < deadline) latencies.push(...(await steadily(callers, perSecond, 500)));
  await disturbance;
  for (const caller of callers) caller.connection.close();
  return latencies;
}

const summary = (values: readonly number[]) => [0.5, 0.9, 0.99, 1].map((part) => quantile(values, part));

/** As many as one MCP server may have. */
const toolsEach = 5000;
const program = join(import.meta.dirname, 'bulk-server.mjs');

export async function addBulk({ platform }: BenchPlatform, name: string, workspace = 'Default'): Promise<void> {
  await platform.addServer(name, [process.execPath, program, String(toolsEach)], ['--workspace', workspace]);
}

/** Ten thousand tools come into the workspace that is called in, and go. */
async function rebuildCatalogue(bench: BenchPlatform): Promise<void> {
  for (const name of ['bulk-1', 'bulk-2']) await addBulk(bench, name);
  for (const name of ['bulk-1', 'bulk-2']) await bench.platform.svc('server', 'remove', name);
}

/** A workspace with a hundred thousand tools: they are the nodes that come by the thousand. */
async function pagingOf(bench: BenchPlatform): Promise<() => Promise<void>> {
  const backend = await bench.platform.backend();
  await backend.send(createWorkspaceMutation, { input: { name: 'Big', ownerEmail: 'owner@localhost' } });
  for (let i = 0; i < 100_000 / toolsEach; i++) await addBulk(bench, `many-${i}`, 'Big');
  return () => pageThroughTools(bench);
}

async function pageThroughTools({ platform }: BenchPlatform): Promise<void> {
  const backend = await platform.backend();
  let after: string | null = null;
  do {
    const answer: z.infer<typeof toolPage> = await backend.query(
      `query ($after: String) { workspace(name: "Big") { tools(first: 100, after: $after) {
        nodes { id name originalName description listed } pageInfo { next }
      } } }`,
      { after },
      toolPage.parse,
    );
    after = answer.workspace.tools.pageInfo.next;
  } while (after !== null);
}

const toolPage = z.object({
  workspace: z.object({
    tools: z.object({
      nodes: z.array(z.object({ id: z.string() })),
      pageInfo: z.object({ next: z.string().nullable() }),
    }),
  }),
});

export async function applySkills({ platform }: BenchPlatform): Promise<void> {
  const skills = Array.from(
    { length: 1000 },
    (_, i) =>
      `  - { name: made-${i}, description: "The skill of number ${i}, at ${Date.now()}", tools: [everything/echo] }`,
  );
  const file = join(platform.folder, 'skills.yaml');
  await writeFile(file, `workspace: Default\nskills:\n${skills.join('\n')}\n`);
  await platform.svc('apply', file);
}

/** A tool that answers with one line of fifty megabytes: too long, and refused while it still comes. */
async function sendLongLine({ platform }: BenchPlatform): Promise<void> {
  await platform.addServer('long-line', [process.execPath, program, '1', 'loud']);
  await pause(3000);
  await platform.svc('server', 'remove', 'long-line');
}
