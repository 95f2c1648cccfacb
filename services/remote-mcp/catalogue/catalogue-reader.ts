import { catalogueEntry, catalogueMaxBytes } from '../../contracts/catalogue.ts';
import { giveWay } from '../../kit/give-way.ts';
import type { RuntimeProcesses } from '../routing/runtime-processes.ts';
import type { Catalogue } from './catalogue.ts';
import { CatalogueBuilder, unreadable } from './catalogue-builder.ts';

/** A tool's definition is at most 1 MiB, and twice as much when written inside a JSON text. */
const lineMaxChars = 4 * 1024 * 1024;

/** Reads the body of a pull line by line. Null if the body ends too early. Throws `unavailable` if it is not a catalogue. */
export async function readCatalogue(
  body: AsyncIterable<Uint8Array>,
  processes: Pick<RuntimeProcesses, 'of'>,
): Promise<Catalogue | null> {
  const builder = new CatalogueBuilder(processes);
  for await (const line of linesOf(body)) {
    await giveWay();
    builder.add(readEntry(line));
  }
  return await builder.build();
}

function readEntry(line: string) {
  const parsed = catalogueEntry.safeParse(parse(line));
  if (parsed.success) return parsed.data;
  throw unreadable(`line "${line.slice(0, 80)}" is no entry`);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function* linesOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.byteLength;
    const text = rest + decoder.decode(chunk, { stream: true });
    let start = 0;
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', start)) {
      if (end > start) yield text.slice(start, end);
      start = end + 1;
    }
    rest = text.slice(start);
    if (rest.length > lineMaxChars || bytes > catalogueMaxBytes) throw unreadable('it is too large');
  }
  if (rest !== '') yield rest;
}
