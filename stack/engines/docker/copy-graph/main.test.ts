import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { blobOf, inChunks } from '../../../../services/backend/files/blobs.contract.ts';
import { readBlobs } from '../../../../services/backend/files/content.ts';
import { openBlobsContent } from '../../../../services/backend/files/open-content.ts';
import { filled } from '../../../../services/backend/graph/content.contract.ts';
import { readContent } from '../../../../services/backend/graph/content.ts';
import { openGraphContent } from '../../../../services/backend/graph/open-content.ts';
import { blobsIn } from '../../../state/data-files.ts';

const folder = mkdtempSync(join(tmpdir(), 'svc-copy-'));
afterAll(() => rmSync(folder, { recursive: true }));

test('the graph and the files beside it are in the copy', async () => {
  const [from, to] = [join(folder, 'from'), join(folder, 'to')];
  for (const dir of [from, to]) mkdirSync(dir);
  const [file, target] = [join(from, 'graph.sqlite'), join(to, 'graph.sqlite')];
  await filled({ url: `file:${file}` });
  await using source = await openBlobsContent({ engine: 'folder', dir: blobsIn(from) });
  for (const bytes of [Buffer.from('one'), Buffer.alloc(300_000)]) {
    await source.blobs.put(blobOf(bytes), inChunks(bytes));
  }
  const program = fileURLToPath(new URL('./main.ts', import.meta.url));
  expect(spawnSync(process.execPath, [program, file, target], { encoding: 'utf8' })).toMatchObject({ status: 0 });
  await using copy = await openBlobsContent({ engine: 'folder', dir: blobsIn(to) });
  expect(await readBlobs(copy.blobs)).toEqual(await readBlobs(source.blobs));
  const contents = [file, target].map(async (one) => {
    const content = await openGraphContent({ engine: 'sqlite', file: one, readOnly: true });
    const kinds = await readContent(content);
    await content.close();
    return kinds;
  });
  const [before, after] = await Promise.all(contents);
  expect(after).toEqual(before);
});
