import path from 'node:path';
import type { ChildEnvironmentOptions } from '../child-environment.ts';
import type { ChildOrder } from '../spawn-child.ts';
import { authorityPaths } from './machine-paths.ts';
import { View } from './view.ts';
import type { WorkingFolder } from './working-folder.ts';

export interface SandboxOptions {
  /** Homes of all MCP servers are in it: each sees its own. */
  readonly workingDir: string;
  /** The platform's own, which nothing inside ever sees. */
  readonly hiddenPaths: readonly string[];
  /** What everything inside may read. */
  readonly allowedPaths: readonly string[];
  /** Members may give folders below these as working directories. */
  readonly memberFolders: readonly string[];
}

/** What of the machine is needed to run anything, where a sandbox brings nothing of its own. */
export interface MachinePrograms {
  readonly all: readonly string[];
  readonly ofCommand: readonly string[];
}

/** What one MCP server sees of the machine: its home, its working directory, and what the operator named for all. */
export async function viewFor(
  { cwd, environment: { inherited, place } }: ChildOrder,
  { hiddenPaths, workingDir, allowedPaths }: SandboxOptions,
  folder: WorkingFolder,
  programs: MachinePrograms = { all: [], ofCommand: [] },
): Promise<View> {
  const view = await View.without([...hiddenPaths, workingDir]);
  for (const one of programs.all) await view.show(one, 'read');
  for (const one of authorityPaths(inherited)) await view.show(one, 'read');
  for (const one of [place.home, place.temporary]) await view.open(one);
  if (folder.mounted !== null) view.write(folder.mounted, path.resolve(cwd), folder.cwd);
  for (const one of programs.ofCommand) await view.show(one, 'read');
  for (const one of allowedPaths) await view.show(one, 'read');
  return view;
}

/** A variable of the runtime that names a path which is not there inside, such as npm's cache, would only mislead. */
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
