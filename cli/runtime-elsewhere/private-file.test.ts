import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { checkPrivateFile, exposure } from './private-file.ts';

describe('a file for a key', () => {
  const dir = mkdtempSync(join(tmpdir(), 'svc-private-'));
  const file = join(dir, 'edge.env');
  writeFileSync(file, 'old');
  afterAll(() => rmSync(dir, { recursive: true }));

  test('replaces another file only if requested', () => {
    expect(() => checkPrivateFile('--out', file, false)).toThrow(
      expect.objectContaining({ code: 'conflict', hint: expect.stringContaining('--overwrite') }),
    );
    expect(() => checkPrivateFile('--out', file, true)).not.toThrow();
  });

  test('must be writable', () => {
    expect(() => checkPrivateFile('--out', dir, true)).toThrow(/is a folder/);
    expect(() => checkPrivateFile('--out', join(dir, 'none', 'edge.env'), true)).toThrow(/its folder is not there/);
  });

  test('that other users may read is reported', () => {
    const stat = (mode: number, isFile = true) => ({ isFile: () => isFile, mode });
    expect(exposure(file, stat(0o100600))).toBeNull();
    expect(exposure(file, stat(0o100644))).toBe(`"${file}" may be read by others (mode 0644): chmod 600 ${file}`);
    expect(exposure(1, stat(0o20620, false))).toBeNull();
    expect(exposure(1, stat(0o100640))).toMatch(/^The file that this was written to may be read by others/);
  });
});
