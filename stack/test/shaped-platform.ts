import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import { DockerTrial } from '../engines/docker/test/docker-trial.ts';
import type { Engine, Graph, Topology } from '../settings/choices.ts';
import { repository } from './foreign-servers.ts';
import { Platform } from './platform.ts';

/** What a platform may be made of. */
export interface Shape {
  readonly topology: Topology;
  readonly graph: Graph;
  readonly engine: Engine;
}

/** A platform of some shape that runs, and how MCP servers find there what lies here. */
export interface ShapedPlatform extends AsyncDisposable {
  readonly platform: Platform;
  /** A folder that they may write to. */
  readonly writable: string;
  /** A command of this machine, as it is there. */
  asThere(command: readonly string[]): readonly [string, ...string[]];
}

export async function startShaped(shape: Shape, settings: (yaml: string) => string): Promise<ShapedPlatform> {
  if (shape.engine === 'docker') return startInContainers(shape.graph, settings);
  const platform = await Platform.start({ ...shape, settings });
  return {
    platform,
    writable: platform.folder,
    asThere: ([program = '', ...args]) => [program, ...args],
    [Symbol.asyncDispose]: () => platform[Symbol.asyncDispose](),
  };
}

/** Its MCP servers run in the container of a runtime, which has a Node of its own and reads what it is allowed to. */
async function startInContainers(graph: Graph, settings: (yaml: string) => string): Promise<ShapedPlatform> {
  const trial = await DockerTrial.init({ graph, settings });
  const { platform } = trial;
  await chmod(platform.folder, 0o755);
  const read = [join(repository, 'node_modules'), platform.folder];
  trial.platform.edit('allowedPaths: []', `allowedPaths: [${read.join(', ')}]`);
  await trial.up();
  return {
    platform,
    writable: '/data',
    asThere: ([program = '', ...args]) => [program === process.execPath ? 'node' : program, ...args],
    [Symbol.asyncDispose]: () => trial[Symbol.asyncDispose](),
  };
}
