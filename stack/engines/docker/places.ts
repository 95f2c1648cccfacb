import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Kinds, keepsBlobs, type Opening, type Place } from '../../content/place.ts';
import { refuseWithoutMajority } from '../../place/losses.ts';
import type { Plan } from '../../plan/plan.ts';
import { hasOtherBus, hasOwnGraph } from '../../settings/definition.ts';
import { readContainers, removeContainers } from '../../state/containers-record.ts';
import { blobsIn, graphIn } from '../../state/data-files.ts';
import type { Installation } from '../../state/installation.ts';
import type { Places, PlacesOptions, Sizes } from '../places.ts';
import { handOver } from './given-files.ts';
import { ensurePlanImages } from './images.ts';
import { findLostVolumes, forgetVolumes } from './lost-volumes.ts';
import { prefixOf, volumeOf, volumesOf } from './names.ts';
import { connectToOwnDaemon } from './own-daemon.ts';
import { runContainersAlone } from './run-alone.ts';
import { endContainersAlone } from './take-down.ts';
import type { TaskSite } from './task.ts';
import { copyFiles, copyGraphFile, makeVolumes, measureVolumes } from './volume-tasks.ts';
import { holderOf, listVolumes, removeVolumes } from './volumes.ts';

export async function placesInVolumes(options: PlacesOptions): Promise<Places> {
  const { plan, env, signal } = options;
  const { definition, installation } = plan;
  const daemon = await connectToOwnDaemon(installation, env);
  const { docker } = daemon;
  await ensurePlanImages(plan, { ...options, docker });
  const site = { plan, daemon, signal };
  const there = () => listVolumes(docker, definition.id);
  const remove = async (isRemoved: (volume: string) => boolean) => {
    forgetVolumes(installation, isRemoved);
    const volumes = [...(await there())].filter(isRemoved);
    if (volumes.length > 0) await removeVolumes(docker, definition.id, volumes);
  };
  return {
    async list() {
      const volumes = await there();
      return volumesOf(plan).filter((name) => volumes.has(name));
    },
    async keepsBus() {
      const volumes = await there();
      return plan.parts.some((part) => part.service === 'nats' && volumes.has(volumeNamed(part.name, plan)));
    },
    // Docker removes no volume that a container has.
    clearHint: (places) =>
      `If their data is no longer needed: svc down; docker rm --force ${holderOf(definition.id)}; docker volume rm ${places.join(' ')}`,
    findLosses: async () => findLostVolumes(plan, readContainers(installation), await there()),
    measure: () => sizesIn(site),
    open: (opening) => placeInVolumes(opening, site),
    empty: (kinds) => remove(matcherOf(kinds, plan)),
    async emptyAll() {
      await remove(() => true);
      removeContainers(installation);
    },
    async copyOut(part, folder) {
      const volume = volumeNamed(part, plan);
      if (!(await there()).has(volume)) return;
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      await copyFiles({ from: volume, to: folder, user: daemon.installer }, site);
    },
    async copyIn(folder, part) {
      await makeNewVolumes(site);
      await copyFiles({ from: folder, to: volumeNamed(part, plan), user: daemon.user }, site);
    },
    async endLeft() {
      await endContainersAlone(site);
      rmSync(copiesDirOf(installation), { recursive: true, force: true });
    },
  };
}

/** Tells the volumes of these kinds: the backend's holds a graph and the files beside it. */
function matcherOf({ bus, graph, blobs }: Kinds, { definition }: Plan) {
  const prefix = `${prefixOf(definition)}-`;
  return (volume: string) => {
    const name = volume.slice(prefix.length);
    if (/^nats/.test(name)) return bus;
    return /^(backend|dgraph)/.test(name) && (graph || blobs);
  };
}

/** Makes the missing volumes of a plan, for the user of its containers. */
async function makeNewVolumes(site: TaskSite): Promise<void> {
  const { plan, daemon } = site;
  const there = await listVolumes(daemon.docker, plan.definition.id);
  const volumes = volumesOf(plan).filter((name) => !there.has(name));
  await makeVolumes({ volumes, foreign: volumes }, site);
}

async function sizesIn(site: TaskSite): Promise<Sizes> {
  const { plan, daemon } = site;
  const { bytes, freeBytes } = await measureVolumes([...(await listVolumes(daemon.docker, plan.definition.id))], site);
  const bytesOf = (part: string) => bytes.get(volumeNamed(part, plan)) ?? 0;
  return {
    graphBytes: bytesOf('backend') + bytesOf('dgraph-zero') + bytesOf('dgraph-alpha'),
    fileBytes: 0,
    busBytes: bytesOf('nats'),
    otherBytes: bytesOf('runtime'),
    disk: { place: 'The disk of Docker', repair: 'docker system df tells what takes it.', freeBytes },
  };
}

async function placeInVolumes({ kinds, to, isRunning = false }: Opening, site: TaskSite): Promise<Place> {
  const { plan, daemon } = site;
  const { definition, installation } = plan;
  const { docker, user, fileOwner, installer } = daemon;
  if (to === 'fill') await makeNewVolumes(site);
  const volumes = await listVolumes(docker, definition.id);
  if (to === 'read' && kinds.graph) {
    refuseWithoutMajority(findLostVolumes(plan, readContainers(installation), volumes));
  }
  const has = (part: string) => volumes.has(volumeNamed(part, plan));
  const hasNode = plan.parts.some(({ service, name }) => service === 'dgraph-alpha' && has(name));
  const isFile = definition.graph === 'sqlite';
  const files = volumeNamed('backend', plan);
  const dir = copiesDirOf(installation);
  rmSync(dir, { recursive: true, force: true });
  mkdirSync(dir, { mode: 0o700 });
  if (to === 'read' && isFile && (kinds.graph || kinds.blobs) && has('backend')) {
    // A running backend writes to the volume: SQLite copies one moment of it.
    if (isRunning) {
      handOver(dir, fileOwner);
      await copyGraphFile({ from: files, to: dir, user }, site);
    } else await copyFiles({ from: files, to: dir, user: installer }, site);
  }
  const hasBus = hasOtherBus(definition) || has('nats');
  return {
    there: {
      bus: kinds.bus && hasBus,
      graph: kinds.graph && (isFile ? existsSync(graphIn(dir, 'sqlite')) : hasNode),
      blobs: kinds.blobs && (keepsBlobs(plan) ? hasBus : existsSync(blobsIn(dir))),
    },
    dir,
    run: ({ bus, graph, blobs }) => {
      const parts = { bus: bus || (blobs && keepsBlobs(plan)), graph: graph && hasOwnGraph(definition) };
      return runContainersAlone({ ...site, ...parts, isRunning });
    },
    save: async () => {
      if (isFile && (kinds.graph || kinds.blobs)) await copyFiles({ from: dir, to: files, user }, site);
    },
    [Symbol.asyncDispose]: async () => rmSync(dir, { recursive: true, force: true }),
  };
}

function copiesDirOf({ dataDir }: Installation): string {
  return join(dataDir, 'volumes');
}

function volumeNamed(name: string, { parts, definition }: Plan): string {
  const part = parts.find((one) => one.name === name);
  return (part === undefined ? null : volumeOf(part, definition)) ?? '';
}
