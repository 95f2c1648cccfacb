import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { openBlobsContent } from '../../../../services/backend/files/open-content.ts';
import { copyGraph } from '../../../../services/backend/graph/open-content.ts';
import { inWords } from '../../../../services/contracts/system-words.ts';
import { blobsIn } from '../../../state/data-files.ts';

/** Copies the graph's file and the files of skills beside it, inside their volume. Exit code 0: done. Otherwise prints the reason. */
const [file = '', target = ''] = process.argv.slice(2);

try {
  await copyGraph(file, target);
  await copyBlobs(blobsIn(dirname(file)), blobsIn(dirname(target)));
} catch (error) {
  process.stdout.write(inWords(error));
  process.exitCode = 1;
}

/** The backend keeps what the copied graph refers to for ten minutes. A file that goes meanwhile was removed before. */
async function copyBlobs(from: string, to: string): Promise<void> {
  if (!existsSync(from)) return;
  await using source = await openBlobsContent({ engine: 'folder', dir: from });
  await using copy = await openBlobsContent({ engine: 'folder', dir: to });
  for await (const digest of source.blobs.list()) {
    const blob = await source.blobs.find(digest);
    if (blob !== null) await copy.blobs.put(blob, await source.blobs.read(digest));
  }
}
