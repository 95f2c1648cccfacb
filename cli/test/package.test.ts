import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { svcFile } from './run-svc.ts';

const root = dirname(dirname(svcFile));
const manifest: { name: string; bin: Record<string, string> } = JSON.parse(
  readFileSync(join(root, 'package.json'), 'utf8'),
);

test("the command has the package's own name too, which npx finds in any folder", () => {
  expect(Object.keys(manifest.bin).sort()).toEqual(['svc', manifest.name].sort());
  for (const file of Object.values(manifest.bin)) expect(join(root, file)).toBe(svcFile);
});

test('the files that README names are in the package', () => {
  const readme = readFileSync(join(root, 'README.md'), 'utf8');
  const named = [...readme.matchAll(/node_modules\/svc-platform\/(\S+)/g)].map(([, path = '']) => path);
  expect(named).toEqual(['dist/templates/demo']);
  for (const path of named) expect(existsSync(join(root, path, 'platform.yaml')), path).toBe(true);
});
