import { writeSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { blobOf, inChunks } from './blobs.contract.ts';
import { FolderBlobs } from './folder-blobs.ts';

/**
 * A separate process: puts one blob after the other into the folder and prints the number of each stored one, until it
 * is killed.
 */
const [dir = '', first = '0'] = process.argv.slice(2);
const blobs = await FolderBlobs.open(dir);
for (let number = Number(first); ; number++) {
  const bytes = bytesOf(number);
  await blobs.put(blobOf(bytes), slowly(bytes));
  // Written at once: buffered output would be lost with the process.
  writeSync(1, `${number}\n`);
}

/** Slow, so that the kill happens during a put. */
async function* slowly(bytes: Buffer) {
  for await (const chunk of inChunks(bytes, 10_000)) {
    await delay(1);
    yield chunk;
  }
}

function bytesOf(number: number): Buffer {
  return Buffer.alloc(300_000, `${number} `);
}
