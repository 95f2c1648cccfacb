import type { IncomingMessage } from 'node:http';
import { SvcError } from '../../contracts/errors.ts';

export const bodyMaxBytes = 4 * 1024 * 1024;

/**
 * The whole body. Past the limit it is refused at once, and what still comes is read and let go, so that the client gets to read
 * the refusal. How long a client may take is the server's requestTimeout. Null where the client left.
 */
export function readBody(request: IncomingMessage): Promise<Buffer | null> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= bodyMaxBytes) chunks.push(chunk);
      else {
        chunks.length = 0;
        reject(tooLarge());
      }
    });
    request.on('end', () =>
      resolve(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks)),
    );
    request.on('error', () => resolve(null));
  });
}

function tooLarge(): SvcError {
  return new SvcError('too_large', `The body is above the limit of ${bodyMaxBytes} bytes.`);
}
