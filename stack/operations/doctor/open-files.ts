import { describeFewFiles } from '../../machine/open-files.ts';
import { type Found, ok, warning } from './finding.ts';

export async function checkOpenFiles(): Promise<readonly Found[]> {
  const few = describeFewFiles();
  if (few === null) return [ok('A process may open enough files.')];
  return [warning(few, 'Raise the limit of this user, then start the platform again: svc restart')];
}
