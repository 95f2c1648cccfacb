import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { withRunningPlatform } from './running-platform.ts';

// More objects than a page of the API holds, with launches that do not fit into one request together.
const largeOnes = 75;
const smallOnes = 110;
const skills = 130;

const platform = withRunningPlatform();
const svc = async (...args: string[]) => {
  const { code, stdout, stderr } = await platform.svc(...args);
  expect([code, stderr]).toEqual([0, expect.any(String)]);
  return stdout;
};

beforeAll(async () => {
  const env = `LARGE: "${'x'.repeat(60_000)}"`;
  const large = Array.from(
    { length: largeOnes },
    (_, i) => `  large-${i}: { command: x, enabled: false, env: { ${env} } }`,
  );
  const small = Array.from({ length: smallOnes }, (_, i) => `  small-${i}: { command: x, enabled: false }`);
  const names = Array.from({ length: skills }, (_, i) => `s-${i}`);
  const file = [
    'mcpServers:',
    ...large,
    ...small,
    'skills:',
    ...names.map((name) => `  - { name: ${name} }`),
    'roles:',
    `  - { name: All, skills: [${names.join(', ')}] }`,
  ];
  writeFileSync(join(platform.dir(), 'long.yaml'), file.join('\n'));
  await svc('apply', 'long.yaml');
}, 120_000);

test('a long file applied again changes nothing', async () => {
  const { changes } = JSON.parse(await svc('apply', 'long.yaml', '--json'));
  expect(changes).toHaveLength(largeOnes + smallOnes + skills + 1);
  expect(changes.filter(({ action }: { action: string }) => action !== 'none')).toEqual([]);
}, 60_000);

test('svc status lists every MCP server', async () => {
  expect(JSON.parse(await svc('status', '--json')).mcpServers).toHaveLength(largeOnes + smallOnes);
});

test('svc server list lists every MCP server', async () => {
  expect(JSON.parse(await svc('server', 'list', '--json')).mcpServers).toHaveLength(largeOnes + smallOnes);
});

test('svc role list lists every skill of a role', async () => {
  const { roles } = JSON.parse(await svc('role', 'list', '--json'));
  const all = roles.find(({ name }: { name: string }) => name === 'All');
  expect(all.skills).toHaveLength(skills);
});
