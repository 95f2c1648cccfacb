import { expect, test } from 'vitest';
import { describeFewFiles } from './open-files.ts';

test('only a low limit of open files is told', () => {
  expect(describeFewFiles(64)).toContain('This user may open only 64 files in one process');
  for (const max of [1024, 524_288, null]) expect(describeFewFiles(max)).toBeNull();
});
