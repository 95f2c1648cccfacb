import { expect, test } from 'vitest';
import type { Launch } from '../../contracts/bus/messages.ts';
import { newId } from '../../contracts/ids.ts';
import { Secret } from '../../contracts/secret.ts';
import { openSecrets } from '../secrets/secrets.ts';
import { decryptLaunch, encryptLaunch } from './launch.ts';

const secrets = openSecrets({ present: new Secret('ab'.repeat(32)), previous: undefined });
const id = newId('mcpServer');

/** The folder of a launch that is stored by an installation in one folder, and read by it in another. */
function folderAfterMove(cwd: string | null, from: string | undefined, to: string | undefined) {
  const launch: Launch = { kind: 'child', command: 'npx', args: [], cwd, env: {} };
  const keeper = (folder: string | undefined) => ({ secrets, config: { INSTALLATION_DIR: folder } });
  const text = encryptLaunch(keeper(from), id, { launch, plain: [], declared: [], setBy: 'operator' });
  const read = decryptLaunch(keeper(to), { id, launch: text }).launch;
  return read.kind === 'child' ? read.cwd : undefined;
}

test.each([
  ['the folder itself', '/srv/tools', '/opt/other', '/opt/other'],
  ['one below it', '/srv/tools/docs/a', '/opt/other', '/opt/other/docs/a'],
  ['one whose name begins with dots', '/srv/tools/..docs', '/opt/other', '/opt/other/..docs'],
  ['one beside it stays', '/srv/tools-old', '/opt/other', '/srv/tools-old'],
  ['one above it stays', '/srv', '/opt/other', '/srv'],
  ['without a move', '/srv/tools/docs', '/srv/tools', '/srv/tools/docs'],
])('a folder in the installation moves with it: %s', (_name, cwd, to, expected) => {
  const moved = folderAfterMove(cwd, '/srv/tools', to);
  expect(moved).toBe(expected);
});

test('a launch without a folder has none, and without INSTALLATION_DIR a folder stays', () => {
  expect(folderAfterMove(null, '/srv/tools', '/opt/other')).toBeNull();
  expect(folderAfterMove('/srv/tools/docs', undefined, '/opt/other')).toBe('/srv/tools/docs');
});
