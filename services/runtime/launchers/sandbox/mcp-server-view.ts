import path from 'node:path';
import type { ChildEnvironmentOptions } from '../child-environment.ts';
import type { ChildOrder } from '../spawn-child.ts';
import { authorityPaths } from './machine-paths.ts';
import type { SandboxOptions } from './sandbox-options.ts';
import { View } from './view.ts';
import type { WorkingFolder } from './working-folder.ts';

/** Parts of the machine that any program needs, for a sandbox that contains no programs. */
export interface MachinePrograms {
  readonly all: readonly string[];
  readonly ofCommand: readonly string[];
}

/** One MCP server's view of the machine: its home, its working directory, and paths that the operator allowed for all. */
export async function viewFor(
  { cwd, environment: { inherited, place } }: ChildOrder,
  { hiddenPaths, workingDir, allowedPaths }: SandboxOptions,
  folder: WorkingFolder,
  programs: MachinePrograms = { all: [], ofCommand: [] },
): Promise<View> {
  const view = await View.without([...hiddenPaths, workingDir]);
  for (const one of programs.all) await view.show(one, 'read');
  for (const one of authorityPaths(inherited)) await view.show(one, 'read');
  for (const one of [place.folder, place.temporary, place.cache]) if (one !== null) await view.open(one);
  if (folder.mounted !== null) view.write(folder.mounted, path.resolve(cwd), folder.cwd);
  for (const one of programs.ofCommand) await view.show(one, 'read');
  for (const one of allowedPaths) await view.show(one, 'read');
  return view;
}

/** Removes variables of the runtime with a path that does not exist inside, such as npm's cache. */
export async function visibleEnvironment(
  environment: ChildEnvironmentOptions,
  view: View,
): Promise<ChildEnvironmentOptions> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(environment.inherited)) {
    const isPath = name !== 'PATH' && path.isAbsolute(value) && !value.includes(':');
    if (!isPath || (await view.shows(value))) kept[name] = value;
  }
  return { ...environment, inherited: kept };
}
