import path from 'node:path';
import type { Reason } from '../../../contracts/bus/messages.ts';
import { quotedPath } from '../explain-exit.ts';
import type { ChildOrder } from '../spawn-child.ts';
import { whyNeverWritable } from './never-writable.ts';
import type { SandboxOptions } from './sandbox-options.ts';
import { findReal, isWithin } from './view.ts';

/** The working directory of a sandboxed MCP server, as real paths. */
export interface WorkingFolder {
  readonly ok: true;
  readonly cwd: string;
  /** The folder that it may write to; null when that is its own home. */
  readonly mounted: string | null;
}

type Order = Pick<ChildOrder, 'name' | 'cwd' | 'setBy' | 'environment'>;

/** Checks a working directory once, at its real path: only that path is mounted afterwards. */
export async function findWorkingFolder(
  { name, cwd, setBy, environment: { inherited, place } }: Order,
  { hiddenPaths, workingDir, memberFolders }: SandboxOptions,
): Promise<WorkingFolder | { readonly ok: false; readonly reason: Reason }> {
  const real = await findReal(cwd);
  if (real === null) return refused({ name, cwd, setBy }, 'it no longer exists');
  for (const own of [place.folder, place.temporary]) {
    const home = await findReal(own);
    if (home !== null && isWithin(real, home)) return { ok: true, cwd: real, mounted: null };
  }
  const shared = await findSharedFolder(real, memberFolders);
  if (shared === null && setBy === 'member') return { ok: false, reason: notNamed(name, cwd) };
  const mounted = shared ?? real;
  const platform = [...hiddenPaths, workingDir];
  const why = await whyNeverWritable(mounted, { platform, inherited });
  return why === null ? { ok: true, cwd: real, mounted } : refused({ name, cwd, setBy }, why);
}

/**
 * The direct subfolder of a named folder that contains a path; null if there is none. Nothing deeper is mounted,
 * because a writer above a folder could replace it by a link before the mount. No member's sandbox may write to a named
 * folder itself.
 */
async function findSharedFolder(real: string, memberFolders: readonly string[]): Promise<string | null> {
  const named = (await Promise.all(memberFolders.map(findReal))).filter((one) => one !== null);
  const [outermost] = named
    .filter((one) => real !== one && isWithin(real, one))
    .toSorted((one, other) => one.length - other.length);
  if (outermost === undefined) return null;
  const [first = ''] = path.relative(outermost, real).split('/');
  return path.join(outermost, first);
}

function notNamed(name: string, cwd: string): Reason {
  return {
    code: 'folder_not_named',
    message: `The working directory ${quotedPath(cwd)} of "${name}" is refused. A member set it, and it is not below a folder of runtime.memberFolders.`,
    repair:
      'Leave cwd out: then the MCP server works in its home. Or the operator names the folder above it: runtime.memberFolders in svc.yaml (MCP_SERVER_MEMBER_FOLDERS).',
  };
}

type Refused = Pick<Order, 'name' | 'cwd' | 'setBy'>;

function refused({ name, cwd, setBy }: Refused, why: string): { readonly ok: false; readonly reason: Reason } {
  const instead =
    setBy === 'operator'
      ? ' To run it without a sandbox, set runtime.sandbox: auto in svc.yaml (MCP_SERVER_SANDBOX).'
      : '';
  return {
    ok: false,
    reason: {
      code: 'folder_refused',
      message: `A sandbox may not write to the working directory ${quotedPath(cwd)} of "${name}": ${why}.`,
      repair: `Give the MCP server its own folder as cwd, or none: then it works in its home.${instead}`,
    },
  };
}
