import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Reason } from '../../../contracts/bus/messages.ts';
import type { ChildEnvironmentOptions } from '../child-environment.ts';
import type { ChildOrder } from '../spawn-child.ts';
import { authorityPaths, neverWritable } from './machine-paths.ts';
import { findReal, isWithin, View } from './view.ts';

export interface SandboxOptions {
  /** Homes of all MCP servers are in it: each sees its own. */
  readonly workingDir: string;
  /** The platform's own, which nothing inside ever sees. */
  readonly hiddenPaths: readonly string[];
  /** What everything inside may read. */
  readonly allowedPaths: readonly string[];
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
  programs: MachinePrograms = { all: [], ofCommand: [] },
): Promise<View> {
  const view = await View.without([...hiddenPaths, workingDir]);
  for (const one of programs.all) await view.show(one, 'read');
  for (const one of authorityPaths(inherited)) await view.show(one, 'read');
  for (const folder of [place.home, place.temporary]) await view.open(folder);
  if (await mayBeWritten(cwd)) await view.show(cwd, 'write');
  for (const one of programs.ofCommand) await view.show(one, 'read');
  for (const one of allowedPaths) await view.show(one, 'read');
  await view.guard(ownPackage);
  return view;
}

/** Who may write there could change what runs outside. */
const ownPackage = path.dirname(fileURLToPath(new URL('../../../../package.json', import.meta.url)));

async function mayBeWritten(folder: string): Promise<boolean> {
  const real = await findReal(folder);
  if (real === null) return false;
  const system = await Promise.all(neverWritable.map(findReal));
  return !system.some((one) => one !== null && (isWithin(real, one) || isWithin(one, real)));
}

/** The working directory as it really is; null where it may not be shown. */
export async function findShown(cwd: string, view: View): Promise<string | null> {
  const real = await findReal(cwd);
  return real !== null && (await view.shows(real)) ? real : null;
}

/** A variable of the runtime that names a path which is not there inside, such as npm's cache, would only mislead. */
export async function visiblePart(environment: ChildEnvironmentOptions, view: View): Promise<ChildEnvironmentOptions> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(environment.inherited)) {
    const isPath = name !== 'PATH' && path.isAbsolute(value) && !value.includes(':');
    if (!isPath || (await view.shows(value))) kept[name] = value;
  }
  return { ...environment, inherited: kept };
}

export function folderRefused(folder: string): Reason {
  return {
    code: 'folder_refused',
    message: `The working directory "${folder}" may not be shown to a sandboxed MCP server: it is the system's, the platform's or another MCP server's.`,
    repair: 'Give the MCP server a folder of its own as cwd, or none: then it works in its home.',
  };
}
