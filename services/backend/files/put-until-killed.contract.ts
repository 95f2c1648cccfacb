import { writeSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { blobOf, inChunks } from './blobs.contract.ts';
import { FolderBlobs } from './folder-blobs.ts';

/** A process of its own: puts one blob after the other into the folder, and says the number of each that is stored, until it is killed. */
const [dir = '', first = '0'] = process.argv.slice(2);
const blobs = await FolderBlobs.open(dir);
for (let number = Number(first); ; number++) {
  const bytes = bytesOf(number);
  await blobs.put(blobOf(bytes), slowly(bytes));
  // At once: what is only in a buffer of this process dies with it.
  writeSync(1, `${number}\n`);
}

/** So that the end comes amid it. */
async function* slowly(bytes: Buffer) {
  for await (const chunk of inChunks(bytes, 10_000)) {
    await delay(1);
    yield chunk;
  }
}

function bytesOf(number: number): Buffer {
  return Buffer.alloc(300_000, `${number} `);
}
