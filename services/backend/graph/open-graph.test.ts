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

it('refuses a value that is neither a file nor an address, with examples', async () => {
  for (const url of ['', 'localhost:99999', 'http://', 'http://dgraph:65000']) {
    const opening = openGraph({ url });
    await expectRefusal(opening, 'invalid_input', /Dgraph/);
    await expect(opening).rejects.toHaveProperty('hint', expect.stringContaining('PRIVATE_GRAPHDB_URL=file:/'));
  }
});

it('refuses a file without a path from the root', async () => {
  for (const url of ['file:', 'file:graph.sqlite', 'file:./graph.sqlite', 'file:/%']) {
    await expectRefusal(openGraph({ url }), 'invalid_input', /absolute path/);
  }
});

it('names a certificate that cannot be read, and the variable that names it', async () => {
  const opening = openGraph({ url: 'https://localhost:1', caPath: join(folder, 'nowhere.pem') });
  await expectRefusal(opening, 'invalid_input', /PRIVATE_GRAPHDB_CA_PATH: ".*nowhere\.pem" .*: it does not exist/);
});
