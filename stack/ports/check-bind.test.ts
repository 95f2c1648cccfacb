import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { checkBind } from './check-bind.ts';

let file: string;
let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'svc-bind-'));
  file = join(dir, 'svc.yaml');
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

test.each(['127.0.0.1', '0.0.0.0', 'localhost'])('%s is an address of this machine', async (bind) => {
  await expect(checkBind(file, bind)).resolves.toBeUndefined();
});

test.each([
  ['a name that leads nowhere', 'hello.invalid'],
  // Kept for documentation: no machine has it.
  ["another machine's address", '192.0.2.1'],
])('%s is refused with its place', async (_what, bind) => {
  writeFileSync(file, `id: abcdefgh\nbind: ${bind}\n`);
  await expect(checkBind(file, bind)).rejects.toMatchObject({
    code: 'invalid_input',
    message: expect.stringContaining(`${file}:2:7 bind must be an address of this machine, not "${bind}" (E`),
    hint: expect.stringContaining('127.0.0.1'),
  });
});
