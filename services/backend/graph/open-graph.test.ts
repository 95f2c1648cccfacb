import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { randomText } from '../../contracts/ids.ts';
import { expectRefusal } from './contract/test-graph.contract.ts';
import { openGraph } from './open-graph.ts';

const folder = join(tmpdir(), `svc-graph-${randomText(8)}`);
beforeAll(() => void mkdirSync(folder));
afterAll(() => rmSync(folder, { recursive: true }));

it('opens a file by its path, and by the address of a file as programs write it', async () => {
  const path = join(folder, 'a graph é.sqlite');
  for (const url of [`file:${path}`, pathToFileURL(path).href]) {
    await (await openGraph({ url })).close();
    expect(existsSync(path)).toBe(true);
    rmSync(path);
  }
});

it('says what to set instead of an engine that is not there', async () => {
  for (const url of ['localhost:8080', 'http://dgraph:8080', '']) {
    await expectRefusal(openGraph({ url }), 'unsupported', /Dgraph.*distributed/);
    await expect(openGraph({ url })).rejects.toHaveProperty(
      'hint',
      expect.stringContaining('PRIVATE_GRAPHDB_URL=file:/'),
    );
  }
});

it('refuses a file without a path from the root', async () => {
  for (const url of ['file:', 'file:graph.sqlite', 'file:./graph.sqlite', 'file:/%']) {
    await expectRefusal(openGraph({ url }), 'invalid_input', /absolute path/);
  }
});
