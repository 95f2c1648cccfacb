import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach } from 'vitest';

/** Makes a folder before each test of the calling file or group, and removes it afterwards. */
export function folderOfEachTest(): () => string {
  let folder = '';
  beforeEach(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'svc-test-')));
    return () => rmSync(folder, { recursive: true, force: true });
  });
  return () => folder;
}
