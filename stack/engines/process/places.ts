import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { SvcError } from '../../../services/contracts/errors.ts';
import { allKinds, type Kinds, keepsBlobs, type Opening, type Place } from '../../content/place.ts';
import { askProgram } from '../../machine/ask-program.ts';
import { sizeOf } from '../../machine/size-of.ts';
import { aloneFolder, clusterFolder } from '../../parts/nats.ts';
import { findLosses, forgetData } from '../../place/kept-data.ts';
import { refuseWithoutMajority } from '../../place/losses.ts';
import type { Plan } from '../../plan/plan.ts';
import { hasOtherBus, hasOwnGraph } from '../../settings/definition.ts';
import { blobsIn, busIn, databaseFiles, graphIn } from '../../state/data-files.ts';
import { syncFolder } from '../../state/durable-file.ts';
import { diskOf } from '../../state/free-space.ts';
import { runtimeDirOf } from '../../state/installation.ts';
import { endAlone } from '../../state/left-processes.ts';
import { ownFoldersOf, type Places, type PlacesOptions } from '../places.ts';
import { runProcessesAlone } from './run-alone.ts';

export function placesInFolders(options: PlacesOptions): Places {
  const { plan } = options;
  const { installation, definition } = plan;
  const { dataDir } = installation;
  const { graph, topology } = definition;
  const remove = (paths: readonly string[]) => {
    const kept = paths.map((path) => relative(installation.dir, path));
    forgetData(installation, definition, kept);
    for (const path of paths) rmSync(path, { recursive: true, force: true });
    syncFolder(dataDir);
  };
  return {
    async list() {
      const bus = topology === 'embedded' ? [busIn('data', topology)] : natsFolders('data');
      return [...bus, graphIn('data', graph)].filter((path) => existsSync(join(installation.dir, path)));
    },
    keepsBus: async () => existsSync(busFileOf(plan)),
    clearHint: (places) => `Move it to a folder outside of data/: ${places.join(' ')}`,
    findLosses: async () => findLosses(installation, definition),
    async measure() {
      const [graphFile, busFile] = [graphIn(dataDir, graph), busFileOf(plan)];
      return {
        graphBytes: sizeOf(graphFile) + sizeOf(`${graphFile}-wal`),
        fileBytes: graph === 'sqlite' ? sizeOf(blobsIn(dataDir)) : 0,
        busBytes: sizeOf(busFile) + sizeOf(`${busFile}-wal`),
        otherBytes: sizeOf(runtimeDirOf(installation)),
        disk: diskOf(dataDir),
      };
    },
    open: async (opening) => placeInData(opening, options),
    empty: async (kinds) => remove(pathsOf(kinds, dataDir)),
    emptyAll: async () =>
      remove([...pathsOf(allKinds, dataDir), ...ownFoldersOf(plan).map((part) => join(dataDir, part))]),
    async copyOut(part, folder) {
      if (existsSync(join(dataDir, part))) await copyFolder(join(dataDir, part), folder);
    },
    copyIn: (folder, part) => copyFolder(folder, join(dataDir, part)),
    endLeft: () => endAlone(installation),
  };
}

/** The content of every arrangement. */
function pathsOf({ bus, graph, blobs }: Kinds, dir: string): readonly string[] {
  return [
    ...(bus ? [...databaseFiles(busIn(dir, 'embedded')), ...natsFolders(dir)] : []),
    ...(graph ? [...databaseFiles(graphIn(dir, 'sqlite')), graphIn(dir, 'dgraph')] : []),
    ...(blobs ? [blobsIn(dir)] : []),
  ];
}

function natsFolders(dir: string): readonly string[] {
  return [aloneFolder, clusterFolder].map((name) => join(dir, name));
}

function placeInData({ kinds, to, isRunning = false }: Opening, { plan, env, signal }: PlacesOptions): Place {
  const { definition, installation } = plan;
  if (to === 'read' && kinds.graph) refuseWithoutMajority(findLosses(installation, definition));
  const { dataDir: dir } = installation;
  const busUrls = plan.parts.filter(({ service }) => service === 'nats').map(({ url }) => url);
  const hasBus = hasOtherBus(definition) || existsSync(busFileOf(plan));
  const hasGraph =
    (definition.graph === 'dgraph' && !hasOwnGraph(definition)) || existsSync(graphIn(dir, definition.graph));
  return {
    there: {
      bus: kinds.bus && hasBus,
      graph: kinds.graph && hasGraph,
      blobs: kinds.blobs && (keepsBlobs(plan) ? hasBus : existsSync(blobsIn(dir))),
    },
    dir,
    run: async ({ bus, graph, blobs }) => {
      if (isRunning) return { bus: busUrls, graph: null, stop: async () => undefined };
      return await runProcessesAlone({ plan, bus: bus || (blobs && keepsBlobs(plan)), graph, env, signal });
    },
    save: async () => undefined,
    [Symbol.asyncDispose]: async () => undefined,
  };
}

function busFileOf({ definition: { topology, replicas }, installation: { dataDir } }: Plan): string {
  if (topology === 'embedded') return busIn(dataDir, topology);
  return join(dataDir, replicas.nats === 1 ? aloneFolder : clusterFolder);
}

/** Homes of MCP servers may have some gigabytes. */
const copyTimeoutMs = 60 * 60_000;

/** Copies modes, links and holes as they are. The copy is on the disk when this resolves. */
async function copyFolder(from: string, to: string): Promise<void> {
  mkdirSync(to, { recursive: true, mode: 0o700 });
  const command = ['-c', 'cp -a "$1/." "$2/" && sync', 'sh', from, to];
  const { failed, stderr } = await askProgram('sh', command, { timeoutMs: copyTimeoutMs });
  if (failed) throw new SvcError('unavailable', `"${from}" could not be copied to "${to}": ${stderr.trim()}`);
}
