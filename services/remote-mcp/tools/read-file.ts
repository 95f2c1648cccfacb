import { internalFilesPath } from '../../contracts/catalogue.ts';
import { SvcError } from '../../contracts/errors.ts';
import type { FileId, WorkspaceId } from '../../contracts/ids.ts';
import { abortSignalOf, type CancelSignal } from '../../kit/cancellation.ts';
import { askBackend, type BackendAddress, notAnswering } from '../http/ask-backend.ts';

const deadlineMs = 15_000;

export interface FileRange {
  readonly workspace: WorkspaceId;
  readonly file: FileId;
  readonly start: number;
  /** The largest number of bytes to return. */
  readonly lengthMax: number;
}

export interface FilePart {
  readonly bytes: Uint8Array;
  /** The backend's media type of the file. */
  readonly mediaType: string;
}

/** A part of a file. Null if the workspace no longer has the file. Throws `unavailable`. */
export type ReadFile = (range: FileRange, signal: CancelSignal) => Promise<FilePart | null>;

export function fileReader(address: () => BackendAddress): ReadFile {
  return async ({ workspace, file, start, lengthMax }, signal) => {
    const answer = await askBackend(address(), `${internalFilesPath}/${workspace}/${file}`, {
      headers: { range: `bytes=${start}-${start + lengthMax - 1}` },
      signal: AbortSignal.any([abortSignalOf(signal), AbortSignal.timeout(deadlineMs)]),
    });
    if (answer.statusCode !== 206) {
      answer.resume();
      if (answer.statusCode === 404) return null;
      throw new SvcError('unavailable', `The backend answered ${answer.statusCode} to a request for a file.`);
    }
    try {
      const chunks: Uint8Array[] = await answer.toArray();
      return { bytes: Buffer.concat(chunks), mediaType: answer.headers['content-type'] ?? 'application/octet-stream' };
    } catch (thrown) {
      throw notAnswering(thrown);
    }
  };
}
