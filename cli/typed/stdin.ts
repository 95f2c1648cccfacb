import { SvcError } from '../../services/contracts/errors.ts';

export async function readBoundedStdin(sizeMaxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of process.stdin) {
    bytes += chunk.length;
    if (bytes > sizeMaxBytes) throw new SvcError('too_large', `Standard input is longer than ${sizeMaxBytes} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
