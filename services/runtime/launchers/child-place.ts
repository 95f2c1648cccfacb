import { constants } from 'node:fs';
import { access, mkdir, stat } from 'node:fs/promises';
import path from 'node:path';
import type { McpServerId, WorkspaceId } from '../../contracts/ids.ts';
import { type Author, confinementOf, type Sandbox } from '../../contracts/sandbox.ts';
import type { LaunchOrder } from './launch.ts';
import type { TemporaryFolders } from './temporary-folders.ts';

/** The folders of one launch. */
export interface ChildPlace {
  /** HOME. */
  readonly home: string;
  /** The MCP server's own folder, kept between starts: HOME unless that is the user's, and the default working directory. */
  readonly folder: string;
  /** TMPDIR, removed when the processes have ended. */
  readonly temporary: string;
  /** Shared downloads of package managers; null: they are in HOME. */
  readonly cache: string | null;
}

export interface PlaceOptions {
  readonly workingDir: string;
  readonly sandbox: Sandbox;
  /** HOME of operators' commands that no sandbox confines; null: each has its own. */
  readonly userHome: string | null;
  readonly temporaryFolders: TemporaryFolders;
}

type Order = Pick<LaunchOrder<'child'>, 'mcpServer' | 'workspace' | 'setBy'>;

/** Makes the folders of a launch that do not exist yet. */
export async function makePlace({ mcpServer, workspace, setBy }: Order, options: PlaceOptions): Promise<ChildPlace> {
  const { workingDir, sandbox, userHome, temporaryFolders } = options;
  const isConfined = confinementOf(sandbox, setBy) !== 'none';
  const folder = ownFoldersOf(workingDir, mcpServer)[setBy];
  const cache = isConfined ? cachesOf(workingDir, workspace)[setBy] : null;
  for (const one of [folder, ...(cache === null ? [] : [cache])]) await mkdir(one, { recursive: true, mode: 0o700 });
  const home = !isConfined && setBy === 'operator' && userHome !== null ? userHome : folder;
  return { home, folder, temporary: await temporaryFolders.make(), cache };
}

/** A member's folder is not passed on to an operator's command: its files would run with the operator's trust. */
export function ownFoldersOf(workingDir: string, mcpServer: McpServerId): Readonly<Record<Author, string>> {
  return {
    operator: path.join(workingDir, 'homes', mcpServer),
    member: path.join(workingDir, 'member-homes', mcpServer),
  };
}

/** A sandboxed command can write anything into its cache, so no other workspace and no other author reads that. */
export function cachesOf(workingDir: string, workspace: WorkspaceId): Readonly<Record<Author, string>> {
  return {
    operator: path.join(workingDir, 'caches', workspace),
    member: path.join(workingDir, 'member-caches', workspace),
  };
}

/** The home if this process may write to it. A container's is often read-only, and some users of services have none. */
export async function findUsableHome(home: string): Promise<string | null> {
  if (!path.isAbsolute(home) || path.resolve(home) === '/') return null;
  try {
    await access(home, constants.W_OK | constants.X_OK);
    return (await stat(home)).isDirectory() ? home : null;
  } catch {
    return null;
  }
}
