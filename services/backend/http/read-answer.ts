import { SvcError } from '../../contracts/errors.ts';

/** Strangers choose the length of their answers. An answer beyond `maxBytes` is left at once, and its connection ends. */
export async function readAnswer(
  answer: AsyncIterable<Uint8Array>,
  { host, maxBytes }: { readonly host: string; readonly maxBytes: number },
): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of answer) {
    length += piece.length;
    if (length > maxBytes) throw new SvcError('too_large', `The answer of ${host} is larger than ${maxBytes} bytes.`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}
