import { drainMs as drainMsOfServices } from '../contracts/drain.ts';
import type { HomeOfOperators } from '../contracts/sandbox.ts';
import type { OpenBusOptions } from '../kit/bus/open-bus.ts';
import { createLog, type Log } from '../kit/log.ts';
import type { Surroundings } from '../kit/service.ts';
import { createOwnKey, type OwnKey } from './bus/own-key.ts';
import type { Config } from './config.ts';
import { createChildLauncher } from './launchers/child.ts';
import { findUsableHome } from './launchers/child-place.ts';
import { Homes } from './launchers/homes.ts';
import { createHttpLauncher } from './launchers/http.ts';
import { endLeftovers, openChildNotes } from './launchers/leftovers.ts';
import { LineAllowance } from './launchers/line-allowance.ts';
import { createLook, type Look } from './launchers/processes.ts';
import { createSpawnInBwrap } from './launchers/sandbox/bwrap.ts';
import { createSpawnOpenly, type SpawnChild } from './launchers/spawn-child.ts';
import { openTemporaryFolders, removeLeftTemporary, type TemporaryFolders } from './launchers/temporary-folders.ts';
import { Supervisor } from './supervisor/supervisor.ts';
import { prepareWorkingDir } from './working-dir.ts';

/** All dependencies of the runtime, built once. */
export interface Runtime {
  readonly config: Config;
  readonly version: string;
  readonly log: Log;
  readonly bus: OpenBusOptions;
  readonly key: OwnKey;
  readonly supervisor: Supervisor;
  readonly homes: Homes;
  /** HOME of operators' commands that no sandbox confines: that of the runtime's user, or the MCP server's own. */
  readonly home: HomeOfOperators;
  readonly temporaryFolders: TemporaryFolders;
  /** How long running calls may take when the runtime is stopped. */
  readonly drainMs: number;
}

export async function createRuntime(
  config: Config,
  { hub, log: destination, version, drainMs = drainMsOfServices }: Surroundings,
): Promise<Runtime> {
  const { busServers: servers, credentials, forwardStderr, inherited, logLevel: level, logLevels: levels } = config;
  const { startMaxMs, callMaxMs } = config;
  const log = createLog({ service: 'runtime', level, levels, destination });
  const workingDir = await prepareWorkingDir(config.workingDir);
  const look = createLook();
  const leftovers = await endLeftovers(workingDir, look);
  if (leftovers > 0) log('runtime').warn({ leftovers }, 'ended MCP servers that a killed runtime had left running');
  const notes = await openChildNotes(workingDir, config.sandbox === 'container' ? config.containers.socket : undefined);
  await removeLeftTemporary(workingDir, look);
  const temporaryFolders = await openTemporaryFolders(workingDir);
  const hiddenPaths = [...config.hiddenPaths, temporaryFolders.base];
  const spawnChild = await spawnFor({ ...config, hiddenPaths }, workingDir, look);
  const userHome = await findUsableHome(config.home);
  const places = { workingDir, sandbox: config.sandbox, userHome, temporaryFolders };
  const forwarded = forwardStderr ? new LineAllowance() : null;
  const launchers = {
    child: createChildLauncher({ places, inherited, forwarded, notes, log, spawnChild }),
    http: createHttpLauncher({ inherited, allowedAddresses: config.allowedAddresses, log }),
  };
  return {
    config,
    version,
    log,
    bus: { servers, caPath: config.busCaPath, credentials, hub, logger: log('bus') },
    key: await createOwnKey(),
    supervisor: new Supervisor({ launchers, version, log, startMaxMs, callMaxMs }),
    homes: new Homes(workingDir),
    home: userHome === null ? 'own' : 'user',
    temporaryFolders,
    drainMs,
  };
}

async function spawnFor(config: Config, workingDir: string, look: Look): Promise<SpawnChild> {
  switch (config.sandbox) {
    case 'none-for-everybody':
      return createSpawnOpenly(look);
    case 'auto': {
      const spawn = { none: createSpawnOpenly(look), bwrap: createSpawnInBwrap({ ...config, workingDir }, look) };
      return (order) => spawn[order.setBy === 'member' ? 'bwrap' : 'none'](order);
    }
    case 'bwrap':
      return createSpawnInBwrap({ ...config, workingDir }, look);
    case 'container': {
      // Imported on use: the Docker client takes half as long to load as all the rest.
      const { createSpawnInContainer } = await import('./launchers/sandbox/container.ts');
      return createSpawnInContainer({ ...config, ...config.containers, workingDir });
    }
  }
}
