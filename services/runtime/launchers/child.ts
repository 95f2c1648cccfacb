import { stat } from 'node:fs/promises';
import path from 'node:path';
import type { Reason } from '../../contracts/bus/messages.ts';
import { randomText } from '../../contracts/ids.ts';
import { inWords } from '../../contracts/system-words.ts';
import type { Log } from '../../kit/log.ts';
import { ChildChannel } from './child-channel.ts';
import { type ChildPlace, makePlace, type PlaceOptions } from './child-place.ts';
import { quotedPath } from './explain-exit.ts';
import type { Launched, Launcher, LaunchOrder } from './launch.ts';
import type { ChildNotes } from './leftovers.ts';
import type { LineAllowance } from './line-allowance.ts';
import type { SpawnChild } from './spawn-child.ts';

export interface ChildLauncherOptions {
  readonly places: PlaceOptions;
  /** The part of the runtime's own environment that children inherit. */
  readonly inherited: Readonly<Record<string, string>>;
  /** Null: the log takes no lines of standard error. */
  readonly forwarded: LineAllowance | null;
  readonly spawnChild: SpawnChild;
  readonly notes: ChildNotes;
  readonly log: Log;
}

/**
 * Runs an MCP server as a child process without a shell. Its own session lets the whole tree be ended. Its own
 * environment and home contain nothing of the platform.
 */
export function createChildLauncher(options: ChildLauncherOptions): Launcher<'child'> {
  return async (order) => {
    const place = await preparePlace(options.places, order);
    if ('code' in place) return { ok: false, reason: place };
    const started = await start(order, place, options);
    if (!started.ok) await removeTemporary(place, options);
    return started;
  };
}

async function start(order: LaunchOrder<'child'>, place: ChildPlace, options: ChildLauncherOptions): Promise<Launched> {
  const { command, args, cwd, env: own } = order.launch;
  const mark = randomText(markLength);
  const note = await options.notes.open(mark).catch((err: unknown) => {
    options.log('launchers').warn({ err, mcpServer: order.mcpServer }, 'failed to write the note of a child');
    return null;
  });
  const spawned = await options.spawnChild({
    name: order.name,
    setBy: order.setBy,
    command,
    args,
    cwd: cwd ?? place.folder,
    environment: { inherited: options.inherited, place, mark, own },
  });
  if (!spawned.ok) {
    await note?.remove().catch(() => {});
    return spawned;
  }
  const { program } = spawned;
  const born = program.pid === null ? null : note?.born(program.pid).catch(() => {}); // The note has its mark already, which is enough on most systems.
  const clearAway = async () => {
    await removeTemporary(place, options);
    await born;
    await note?.remove();
  };
  return { ok: true, channel: new ChildChannel(program, { order, clearAway, ...options }) };
}

/** Never rejects: the end of the runtime removes the rest. */
async function removeTemporary({ temporary }: ChildPlace, { places, log }: ChildLauncherOptions): Promise<void> {
  await places.temporaryFolders.remove(temporary).catch((err: unknown) => {
    log('launchers').warn({ err }, 'failed to remove the temporary folder of a child');
  });
}

const markLength = 20;

async function preparePlace(places: PlaceOptions, order: LaunchOrder<'child'>): Promise<ChildPlace | Reason> {
  const { launch } = order;
  if (launch.cwd !== null && !(path.isAbsolute(launch.cwd) && (await isFolder(launch.cwd)))) {
    return {
      code: 'folder_not_found',
      message: `The working directory ${quotedPath(launch.cwd)} is not an existing folder with an absolute path on the machine of the runtime.`,
      repair:
        'Create the folder there, or change the cwd of the MCP server. A runtime in a container sees only the folders in runtime.allowedPaths of svc.yaml.',
    };
  }
  try {
    return await makePlace(order, places);
  } catch (error) {
    return {
      code: 'working_dir_unusable',
      message: `The folders of the MCP server could not be created below "${places.workingDir}" and "${places.temporaryFolders.base}": ${inWords(error)}.`,
      repair: 'Free space, or set SVC_WORKING_DIR to a folder that the runtime may write to.',
    };
  }
}

async function isFolder(folder: string): Promise<boolean> {
  return (await stat(folder).catch(() => null))?.isDirectory() ?? false;
}
