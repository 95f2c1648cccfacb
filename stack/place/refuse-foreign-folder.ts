import { lstatSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { SvcError } from '../../services/contracts/errors.ts';
import { findUserName, formatMode } from '../state/file-access.ts';
import type { Installation } from '../state/installation.ts';

/**
 * Throws `forbidden` when another user could have written files that a command trusts. Nothing is read before, and no
 * link of another user is followed. svc.yaml may belong to root. `command` is shown to the owner.
 */
export function refuseForeignFolder({ dir, definitionFile, ...folders }: Installation, command: string): void {
  const self = process.geteuid?.();
  if (self === undefined) return;
  const trusted = new Set([self, 0]);
  refuseOwner({ dir, command, path: dir, trusted });
  refuseOwner({ dir, command, path: definitionFile, trusted });
  refuseWriters(dir);
  refuseWriters(definitionFile);
  const { stateDir, secretsDir, dataDir, logsDir } = folders;
  for (const path of [stateDir, secretsDir, dataDir, logsDir])
    refuseOwner({ dir, command, path, trusted: new Set([self]) });
  for (const folder of [stateDir, secretsDir]) {
    for (const path of filesIn(folder)) refuseOwner({ dir, command, path, trusted });
  }
}

interface Owned {
  /** Of the installation. */
  readonly dir: string;
  readonly command: string;
  readonly path: string;
  readonly trusted: ReadonlySet<number>;
}

/** Checks the owner of the path and of its link target. */
function refuseOwner({ dir, command, path, trusted }: Owned): void {
  const link = lstatSync(path, { throwIfNoEntry: false });
  if (link === undefined) return;
  // The operator named the folder itself, possibly through a link.
  if (path !== dir || !link.isSymbolicLink()) refuseUser(link.uid, { dir, command, path, trusted });
  const target = link.isSymbolicLink() ? statSync(path, { throwIfNoEntry: false }) : undefined;
  if (target !== undefined) refuseUser(target.uid, { dir, command, path, trusted });
}

function refuseUser(uid: number, { dir, command, path, trusted }: Owned): void {
  if (trusted.has(uid)) return;
  const what = path === dir ? `The folder "${dir}"` : `"${path}"`;
  const owner = findUserName(uid);
  const self = process.geteuid?.() ?? 0;
  throw new SvcError(
    'forbidden',
    `${what} belongs to ${owner ?? 'a user without a name'} (uid ${uid}), and you are ${findUserName(self) ?? `uid ${self}`}.`,
    { hint: `Run the command as its owner: sudo -u ${owner ?? `'#${uid}'`} ${command}` },
  );
}

const others = 0o002;
const group = 0o020;

/** A group with this user alone is not another user. */
function refuseWriters(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) return;
  const isOpen = (found.mode & others) !== 0 || ((found.mode & group) !== 0 && found.gid !== process.getegid?.());
  if (!isOpen) return;
  throw new SvcError('forbidden', `"${path}" can be changed by other users: its mode is ${formatMode(found.mode)}.`, {
    hint: `Check its content, then remove the write permission: chmod go-w "${path}"`,
  });
}

function filesIn(folder: string): readonly string[] {
  if (lstatSync(folder, { throwIfNoEntry: false }) === undefined) return [];
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map(({ name }) => join(folder, name));
}
