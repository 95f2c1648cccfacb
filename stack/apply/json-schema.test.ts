import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { applyFileJsonSchema } from './json-schema.ts';

const demo = fileURLToPath(new URL('../../templates/demo/platform.yaml', import.meta.url));
const schema = z.fromJSONSchema(applyFileJsonSchema() as Parameters<typeof z.fromJSONSchema>[0]);
const accepts = (yaml: string) => schema.safeParse(parse(yaml)).success;

test('an editor accepts the demo, and finds the schema in the package', () => {
  const text = readFileSync(demo, 'utf8');
  expect(accepts(text)).toBe(true);
  const [, path = ''] = /^# yaml-language-server: \$schema=(.+)$/m.exec(text) ?? [];
  // The demo is copied beside node_modules.
  expect(resolve('/here/demo', path)).toBe('/here/node_modules/svc-platform/dist/schemas/apply.schema.json');
  expect(dirname(path)).toMatch(/dist\/schemas$/);
});

test.each([
  ['an unknown field', 'roels: []'],
  ['a wrong type', 'skills: { name: x }'],
  ['a tool without its MCP server', 'skills: [{ name: x, tools: [read_file] }]'],
  ['an unknown field of a secret', 'mcpServers: { a: { command: x, env: { A: { fromVault: B } } } }'],
])('an editor marks %s', (_, yaml) => expect(accepts(yaml)).toBe(false));

test('an editor shows the meaning of each field', () => {
  const undescribed: string[] = [];
  const visit = (node: unknown, path: string): void => {
    if (typeof node !== 'object' || node === null) return;
    if ('properties' in node && typeof node.properties === 'object' && node.properties !== null) {
      for (const [name, field] of Object.entries(node.properties)) {
        if (!('description' in field)) undescribed.push(`${path}.${name}`);
      }
    }
    for (const [name, below] of Object.entries(node)) visit(below, `${path}.${name}`);
  };
  visit(applyFileJsonSchema(), '');
  expect(undescribed.filter((path) => !/\.(fromEnv|text)$/.test(path))).toEqual([]);
});
