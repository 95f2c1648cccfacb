import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { operationsProblem } from './typed-operations.ts';

const repository = join(dirname(fileURLToPath(import.meta.url)), '../..');
const files = {
  schema: 'services/contracts/graphql/schema.graphql',
  operations: 'stack/client/operations.graphql',
  generated: 'stack/client/generated/operations.ts',
  pages: 'services/frontend/graphql/operations.graphql',
  generatedForPages: 'services/frontend/graphql/generated/operations.ts',
};

/** A copy of the schema, the operations and the generated file, with one change. */
function copyWith(change: { readonly file: keyof typeof files; readonly from: string; readonly to: string }): string {
  const root = mkdtempSync(join(tmpdir(), 'operations-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  for (const path of Object.values(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    cpSync(join(repository, path), join(root, path));
  }
  const path = join(root, files[change.file]);
  const text = readFileSync(path, 'utf8');
  expect(text).toContain(change.from);
  writeFileSync(path, text.replace(change.from, change.to));
  return root;
}

test('the generated operations are those of operations.graphql', async () => {
  expect(await operationsProblem(repository)).toBe('');
});

test('a field that the schema does not have is refused by name', async () => {
  const root = copyWith({ file: 'operations', from: 'lastHeartbeatAt', to: 'lastHeartbeat' });
  await expect(operationsProblem(root)).rejects.toThrow(/Cannot query field "lastHeartbeat" on type "Runtime"/);
});

test('a variable of another type is refused', async () => {
  const root = copyWith({ file: 'operations', from: '$input: KeyInput!', to: '$input: RoleInput!' });
  await expect(operationsProblem(root)).rejects.toThrow(/"RoleInput!" used in position expecting type "KeyInput!"/);
});

test('a field that is removed from the schema is reported', async () => {
  const root = copyWith({ file: 'schema', from: 'lastHeartbeatAt: Float', to: 'heardAt: Float' });
  await expect(operationsProblem(root)).rejects.toThrow(/Cannot query field "lastHeartbeatAt"/);
});

test.each([
  ['operations', 'generated', 'versions'],
  ['pages', 'generatedForPages', 'statusRevision'],
] as const)('an operation of %s that was changed without npm run operations is reported', async (file, made, from) => {
  const root = copyWith({ file, from, to: '' });
  expect(await operationsProblem(root)).toBe(`${files[made]} is stale. Run npm run operations.`);
});

test('a field of the pages that the schema does not have is refused', async () => {
  const root = copyWith({ file: 'pages', from: 'statusRevision', to: 'revisionOfStates' });
  await expect(operationsProblem(root)).rejects.toThrow(/Cannot query field "revisionOfStates"/);
});
