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
  const { stateDir, secretsDir, dataDir, logsDir } = folders;
  const refuseOwner = (path: string, trusted: readonly number[]) => {
    const stranger = ownersOf(path, path === dir).find((uid) => !trusted.includes(uid));
    if (stranger === undefined) return;
    const what = path === dir ? `The folder "${dir}"` : `"${path}"`;
    const owner = findUserName(stranger);
    throw new SvcError(
      'forbidden',
      `${what} belongs to ${owner ?? 'a user without a name'} (uid ${stranger}), and you are ${findUserName(self) ?? `uid ${self}`}.`,
      { hint: `Run the command as its owner: sudo -u ${owner ?? `'#${stranger}'`} ${command}` },
    );
  };
  for (const path of [dir, definitionFile]) refuseOwner(path, [self, 0]);
  for (const path of [dir, definitionFile]) refuseWriters(path);
  for (const path of [stateDir, secretsDir, dataDir, logsDir]) refuseOwner(path, [self]);
  for (const path of [stateDir, secretsDir].flatMap(filesIn)) refuseOwner(path, [self, 0]);
}

/** The owners of a path and of its link target, which is looked at only once the owner of the link was accepted. */
function* ownersOf(path: string, isNamed: boolean): Generator<number> {
  const link = lstatSync(path, { throwIfNoEntry: false });
  if (link === undefined) return;
  // The operator named the folder itself, possibly through a link.
  if (!isNamed || !link.isSymbolicLink()) yield link.uid;
  const target = link.isSymbolicLink() ? statSync(path, { throwIfNoEntry: false }) : undefined;
  if (target !== undefined) yield target.uid;
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
