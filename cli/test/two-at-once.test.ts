import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { foreignServers } from '../../stack/test/foreign-servers.ts';
import { runSvc } from './run-svc.ts';
import { withRunningPlatform } from './running-platform.ts';

/**
 * Two people run a command at the same moment, each from a script. In these pairs the order does not matter, or neither
 * command reads what the other one changes. The other commands are in conflicts.test.ts.
 */
const platform = withRunningPlatform();
const json = async (words: readonly string[]) => {
  const end = words.indexOf('--');
  const flags = ['--json', '--no-input'];
  const args = end === -1 ? [...words, ...flags] : [...words.slice(0, end), ...flags, ...words.slice(end)];
  const { code, stdout, stderr } = await runSvc(args, { cwd: platform.dir() });
  const answer = z.looseObject({ error: z.looseObject({ code: z.string() }).optional() }).parse(JSON.parse(stdout));
  return { code, error: answer.error?.code ?? null, stderr };
};

beforeAll(async () => {
  await platform.svc('server', 'add', 'tools', '--share', '--', ...foreignServers.everything);
  await platform.svc('keys', 'create', 'phone');
  writeFileSync(join(platform.dir(), 'a.yaml'), 'skills:\n  - { name: applied, description: a }\n');
  writeFileSync(join(platform.dir(), 'b.yaml'), 'skills:\n  - { name: applied, description: b }\n');
});

const everything = ['--', ...foreignServers.everything];
/** What the second person may be told: both changes fit, or the object has changed. */
const rows: readonly (readonly [name: string, one: readonly string[], other: readonly string[]])[] = [
  ['server add', ['server', 'add', 'same', ...everything], ['server', 'add', 'same', ...everything]],
  ['skill create', ['skill', 'create', 'same'], ['skill', 'create', 'same']],
  ['role create', ['role', 'create', 'Same', '--skill', 'tools'], ['role', 'create', 'Same', '--skill', 'tools']],
  ['keys create', ['keys', 'create', 'same'], ['keys', 'create', 'same']],
  ['workspace create', ['workspace', 'create', 'Same'], ['workspace', 'create', 'Same']],
  ['user create', ['user', 'create', 'ann@example.com'], ['user', 'create', 'ann@example.com']],
  ['workspace use', ['workspace', 'use', 'Default'], ['workspace', 'use', 'Default']],
  ['keys rotate', ['keys', 'rotate', 'phone'], ['keys', 'rotate', 'phone']],
  ['server restart', ['server', 'restart', 'tools'], ['server', 'restart', 'tools']],
  ['server disable', ['server', 'disable', 'tools'], ['server', 'enable', 'tools']],
  ['apply', ['apply', 'a.yaml'], ['apply', 'b.yaml']],
  ['backup', ['backup', 'one.gz'], ['backup', 'one.gz']],
  ['up', ['up'], ['up']],
  ['down', ['down'], ['down']],
];

test.each(rows)(
  'svc %s: one succeeds, and the other succeeds too or is told why not',
  async (_, one, other) => {
    const outcomes = await Promise.all([json(one), json(other)]);
    expect(outcomes.map(({ code }) => code)).toContain(0);
    for (const { code, error, stderr } of outcomes) {
      expect([one, stderr, [null, 'conflict']]).toEqual([one, stderr, expect.arrayContaining([error])]);
      expect([error, code]).toEqual([error, error === null ? 0 : 5]);
    }
  },
  60_000,
);
