import { chownSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { EnvRecord } from '../../../services/contracts/env/check.ts';
import type { Alone } from '../../content/alone.ts';
import { keepsBlobs } from '../../content/kept-on-bus.ts';
import { copyFiles, copyGraphFile } from '../../engines/docker/copy-volume.ts';
import type { Owner } from '../../engines/docker/given-files.ts';
import type { PreparedDaemon } from '../../engines/docker/prepared-daemon.ts';
import { runContainersAlone } from '../../engines/docker/run-alone.ts';
import { ownerInside, runsAs } from '../../engines/docker/user.ts';
import { volumeOf } from '../../engines/docker/volume-of.ts';
import { listVolumes } from '../../engines/docker/volumes.ts';
import { runProcessesAlone } from '../../engines/process/run-alone.ts';
import type { Part } from '../../parts/part.ts';
import type { Plan } from '../../plan/plan.ts';
import { hasOwnBus } from '../../settings/has-own-bus.ts';
import { hasOwnGraph } from '../../settings/has-own-graph.ts';
import { blobsIn, busIn, graphIn } from '../../state/data-files.ts';
import type { Installation } from '../../state/installation.ts';
import type { LeftProcess } from '../../state/left-processes.ts';
import { stagingDirOf } from './move-state.ts';

/** Parts of what a side keeps. */
export type Wanted = Readonly<Record<'bus' | 'graph' | 'blobs', boolean>>;

/** Where one side keeps what it has, as whoever carries it comes to it while no backend does. */
export interface SidePlace extends AsyncDisposable {
  /** What is there, of what is wanted. */
  readonly there: Wanted;
  /** Where the files of its graph are, and those of a bus in a file; copies, where they lie in a volume. */
  readonly dir: string;
  /** Runs what keeps the rest. */
  run(wanted: Wanted): Promise<Alone>;
  /** Makes what was put there lie where the side keeps it. */
  save(): Promise<void>;
}

export interface PlaceOptions {
  readonly plan: Plan;
  /** Where a side of processes lies: data/, or a folder of a move that stands in its place. */
  readonly dir: string;
  /** Where its bus lies, if elsewhere: one that both sides have stays where it is. */
  readonly busDir?: string;
  /** The Docker of a side in containers. Its volumes have their names from the beginning. */
  readonly daemon: PreparedDaemon | null;
  readonly wanted: Wanted;
  /** `fill`: what is not there is made. `read`: a file is only read. */
  readonly to: 'read' | 'fill';
  /** Whether its parts run already. */
  readonly isRunning?: boolean;
  readonly env: EnvRecord;
  /** Hears of each process that is started for this. Containers say it themselves, by a label. */
  readonly born: (process: LeftProcess) => void;
  readonly signal: AbortSignal;
}

export async function openPlace(options: PlaceOptions): Promise<SidePlace> {
  return options.plan.definition.engine === 'docker' ? await inVolumes(options) : inFolder(options);
}

function inFolder({ plan, dir, busDir = dir, isRunning = false, env, born, signal, wanted }: PlaceOptions): SidePlace {
  const hasBus = isBusElsewhere(plan) || existsSync(busIn(busDir, plan.definition.topology));
  const there = {
    bus: wanted.bus && hasBus,
    graph: wanted.graph && hasGraph(plan, dir),
    blobs: wanted.blobs && (keepsBlobs(plan) ? hasBus : existsSync(blobsIn(dir))),
  };
  return {
    there,
    dir,
    run: async (needed) => {
      if (isRunning) return { bus: urlsOf('nats', plan), graph: null, stop: async () => undefined };
      const nats = needsBus(plan, needed) ? busDir : null;
      const graphDir = needed.graph ? dir : null;
      return await runProcessesAlone({ plan, busDir: nats, graphDir, env, born, signal });
    },
    save: async () => undefined,
    [Symbol.asyncDispose]: async () => undefined,
  };
}

async function inVolumes(options: PlaceOptions): Promise<SidePlace> {
  const { plan, daemon, wanted, to, isRunning = false, signal } = options;
  if (daemon === null) throw new Error('whoever comes to containers has a Docker');
  const { definition, installation } = plan;
  const volumes = await listVolumes(daemon.docker, definition.id);
  const has = (part: string) => volumes.has(volumeNamed(part, plan));
  const isFile = definition.graph === 'sqlite';
  const inside = { plan, daemon, signal };
  const files = volumeNamed('backend', plan);
  const dir = newFolder(installation);
  const { isRootless } = daemon;
  const { user, owner } = runsAs(installation, isRootless);
  if (to === 'read' && isFile && (wanted.graph || wanted.blobs) && has('backend')) {
    // Who writes to a volume is asked for what is there at one moment.
    if (isRunning) await copyGraphFile({ from: files, to: givenTo(dir, owner), user }, inside);
    else await copyFiles({ from: files, to: dir, user: ownerInside(installation, isRootless) }, inside);
  }
  const hasBus = isBusElsewhere(plan) || has('nats');
  return {
    there: {
      bus: wanted.bus && hasBus,
      graph: wanted.graph && (isFile ? existsSync(graphIn(dir, 'sqlite')) : has('dgraph-alpha')),
      blobs: wanted.blobs && (keepsBlobs(plan) ? hasBus : existsSync(blobsIn(dir))),
    },
    dir,
    run: (needed) => {
      const parts = { bus: needsBus(plan, needed), graph: needed.graph && hasOwnGraph(definition) };
      return runContainersAlone({ plan, daemon, ...parts, isRunning, signal });
    },
    save: async () => {
      if (to === 'fill' && isFile) await copyFiles({ from: dir, to: files, user }, inside);
    },
    [Symbol.asyncDispose]: async () => rmSync(dir, { recursive: true, force: true }),
  };
}

/** Of a side of processes. A platform that was never started has none; one that somebody else runs is always there. */
export function hasGraph({ definition: { graph, graphdb } }: Plan, dir: string): boolean {
  const isOurs = graph === 'sqlite' || graphdb.url === 'auto';
  return !isOurs || existsSync(graphIn(dir, graph));
}

function isBusElsewhere({ definition }: Plan): boolean {
  return definition.topology === 'distributed' && !hasOwnBus(definition);
}

function urlsOf(service: Part['service'], { parts }: Plan): readonly string[] {
  return parts.filter((part) => part.service === service).map(({ url }) => url);
}

function needsBus(plan: Plan, { bus, blobs }: Wanted): boolean {
  return bus || (blobs && keepsBlobs(plan));
}

export function volumeNamed(name: string, { parts, definition }: Plan): string {
  const part = parts.find((one) => one.name === name);
  return (part === undefined ? null : volumeOf(part, definition)) ?? '';
}

/** Beside whatever else a move makes, and gone with it. */
export function newFolder(installation: Installation): string {
  const staging = stagingDirOf(installation);
  mkdirSync(staging, { recursive: true, mode: 0o700 });
  return mkdtempSync(join(staging, 'volume-'));
}

function givenTo(dir: string, { uid, gid }: Owner): string {
  if (process.getuid?.() === 0) chownSync(dir, uid, gid);
  return dir;
}
