import type { NatsContentOptions } from '../../kit/bus/content.ts';
import type { Blobs } from './blobs.ts';
import { FolderBlobs } from './folder-blobs.ts';

export type BlobsPlace =
  | { readonly engine: 'folder'; readonly dir: string }
  | ({ readonly engine: 'jetstream' } & Omit<NatsContentOptions, 'keyMaxAgeMs'>);

export interface OpenedBlobs extends AsyncDisposable {
  readonly blobs: Blobs;
}

/** Opens the blobs of an installation. */
export async function openBlobsContent(place: BlobsPlace): Promise<OpenedBlobs> {
  if (place.engine === 'folder') {
    return { blobs: await FolderBlobs.open(place.dir), [Symbol.asyncDispose]: async () => undefined };
  }
  // Loaded on use: a platform of one process has no NATS.
  const { connectForContent } = await import('../../kit/bus/nats/connect-for-content.ts');
  const { JetStreamBlobs } = await import('./jetstream-blobs.ts');
  const connection = await connectForContent(place);
  const close = () => connection.close();
  try {
    const blobs = await JetStreamBlobs.open({ connection, checkUsable: () => undefined });
    return { blobs, [Symbol.asyncDispose]: close };
  } catch (thrown) {
    await close();
    throw thrown;
  }
}
