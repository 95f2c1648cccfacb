import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Platform } from '../platform.ts';
import { type BenchPlatform, startPlatform } from './bench-platform.ts';
import { atMost, type Figure, reported } from './figure.ts';
import { quantile, steadily } from './load.ts';
import { openCallers, sideOf } from './sides.ts';

const perSecond = 300;
/** Before and after each disturbance: a shared machine is not equally quiet at all times. */
const quietMs = 5000;
/** A disturbance may take this long; calls go on until it has ended. */
const disturbedMaxMs = 120_000;
const timesIdle = 5;

const disturbances: Readonly<Record<string, (platform: Platform) => Promise<void>>> = {
  'a catalogue of 10,000 tools is rebuilt': rebuildCatalogue,
  '1,000 skills are applied': applySkills,
};

/** The p99 of a quiet platform, and of the same platform while something large goes on beside the calls, compared in pairs. */
export async function measureDisturbances(): Promise<Figure[]> {
  await using bench = await startPlatform();
  const quietly = () => during(() => pause(quietMs), bench);
  const figures: Figure[] = [];
  const quiet = [await quietly()];
  for (const [what, disturb] of Object.entries(disturbances)) {
    const latencies = await during(() => disturb(bench.platform), bench);
    quiet.push(await quietly());
    const idle = quantile(quiet.slice(-2).flat(), 0.99);
    const p99 = quantile(latencies, 0.99);
    figures.push(atMost(`echo p99 while ${what}`, p99 / idle, timesIdle, '× idle', { idle, p99 }));
  }
  return [reported('echo p99 of the quiet platform', quantile(quiet.flat(), 0.99), 'ms'), ...figures];
}

/** Calls in slices of half a second for as long as the disturbance lasts. */
async function during(disturb: () => Promise<void>, bench: BenchPlatform): Promise<number[]> {
  const callers = await openCallers(sideOf(bench), 8);
  await steadily(callers, perSecond, 2000);
  let done = false;
  const disturbance = disturb().finally(() => {
    done = true;
  });
  const latencies: number[] = [];
  const deadline = performance.now() + disturbedMaxMs;
  while (!done && performance.now() < deadline) latencies.push(...(await steadily(callers, perSecond, 500)));
  await disturbance;
  for (const caller of callers) caller.close();
  return latencies;
}

const bulkServers = ['bulk-1', 'bulk-2'];

/** Ten thousand tools come into the workspace that is called in, and go. */
async function rebuildCatalogue(platform: Platform): Promise<void> {
  await addTools(platform);
  for (const name of bulkServers) await platform.svc('server', 'remove', name);
}

/** Ten thousand tools. One MCP server may have half of them. */
export async function addTools(platform: Platform): Promise<void> {
  const command = [process.execPath, join(import.meta.dirname, 'bulk-server.mjs'), '5000'];
  for (const name of bulkServers) await platform.addServer(name, command);
}

/** A thousand skills with a tool of the demo. */
export async function applySkills(platform: Platform): Promise<void> {
  const skills = Array.from({ length: 1000 }, (_, i) => ({
    name: `made-${i}`,
    description: `The skill of number ${i}`,
    tools: ['demo/echo'],
  }));
  const file = join(platform.folder, 'skills.yaml');
  // JSON is YAML.
  await writeFile(file, JSON.stringify({ workspace: 'Default', skills }));
  await platform.svc('apply', file);
}
