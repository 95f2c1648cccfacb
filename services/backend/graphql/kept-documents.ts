import type { DocumentNode } from 'graphql';
import { BoundedMap } from '../../kit/bounded-map.ts';

/** About the number of operations of the pages or of the command line. */
const documentsMax = 100;
/** Twice the longest of them. Parsed, each character may take 500 bytes. */
const lengthMax = 2048;

/**
 * Parsed documents for the next operation with the same text. Any caller may send new texts of 4 MiB, so longer
 * documents are parsed each time.
 */
export class KeptDocuments {
  readonly #documents = new BoundedMap<DocumentNode>(documentsMax);

  get(text: string): DocumentNode | undefined {
    return text.length > lengthMax ? undefined : this.#documents.get(text);
  }

  set(text: string, document: DocumentNode): void {
    if (text.length <= lengthMax) this.#documents.set(text, document);
  }
}

/** A faulty document is parsed again: no program of ours sends one. */
export const noErrors = { get: () => undefined, set: () => undefined };
