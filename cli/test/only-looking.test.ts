import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findNatsServer } from '../../services/kit/bus/nats/test/server.ts';
import { everythingIn } from '../../stack/test/everything-in.ts';
import { runSvc } from './run-svc.ts';

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'svc-looking-')));
const dir = join(folder, 'svc');
const svc = (...args: string[]) => runSvc(args, { cwd: folder });

beforeAll(async () => {
  expect(await svc('init', '--yes')).toMatchObject({ code: 0 });
  writeFileSync(join(folder, 'platform.yaml'), 'servers: {}\n');
}, 60_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const looks = [
  { typed: 'config check', code: 0 },
  { typed: 'config show', code: 0 },
  { typed: 'config docs runtime', code: 0 },
  { typed: 'status', code: 4 },
  { typed: 'logs', code: 0 },
  { typed: 'apply platform.yaml --dry-run', code: 4 },
];

async function expectOnlyLooks({ typed, code }: (typeof looks)[number]): Promise<void> {
  const before = everythingIn(dir);
  expect((await svc(...typed.split(' '))).code).toBe(code);
  expect(everythingIn(dir)).toEqual(before);
}

test.each(looks)('svc $typed changes nothing in an installation', expectOnlyLooks);

describe.skipIf(findNatsServer() === null)('on a real server', () => {
  test('a move that asks, without a terminal, changes nothing in an installation', async () => {
    await expectOnlyLooks({ typed: 'move --to distributed', code: 2 });
  });
});
