import { backendUrl } from '../app/environment.ts';
import { ask, refreshShown, send } from './client.ts';
import { addSkillFileMutation, skillFilesQuery } from './generated/operations.ts';
import { readHttpError, ShownError, unreachable } from './shown-error.ts';

/** The largest file over a slow line. */
const uploadTimeoutMs = 5 * 60_000;

interface FileToUpload {
  readonly workspace: string;
  readonly skill: string;
  readonly path: string;
  readonly file: File;
  /** The digest of the file that it replaces; null: there is none. */
  readonly replaced: string | null;
}

/** Browsers compute digests on secure pages only. */
export const canUpload = globalThis.crypto?.subtle !== undefined;

/** Announces a file by its digest, then sends its bytes. Throws a ShownError. */
export async function uploadFile({ workspace, skill, path, file, replaced }: FileToUpload): Promise<void> {
  const bytes = await file.arrayBuffer().catch(() => {
    throw problem('invalid_input', `The file "${file.name}" cannot be read.`, 'Choose it again.');
  });
  const digest = hex(await crypto.subtle.digest('SHA-256', bytes));
  const input = { path, digest, sizeBytes: bytes.byteLength, ifDigest: replaced ?? '' };
  const { addSkillFile } = await send(addSkillFileMutation, { workspace, skill, input });
  let response: Response;
  try {
    response = await fetch(addSkillFile.url, {
      method: 'PUT',
      headers: { 'content-type': 'application/octet-stream' },
      body: bytes,
      signal: AbortSignal.timeout(uploadTimeoutMs),
    });
  } catch {
    throw unreachable(backendUrl);
  }
  const text = await response.text();
  if (!response.ok) throw readHttpError(text, response.headers.get('x-request-id')) ?? unreachable(backendUrl);
  refreshShown();
}

/** Addresses of files are valid for minutes, so each download asks for its own. */
export async function downloadFile(at: { workspace: string; id: string }, path: string): Promise<void> {
  const files = (await ask(skillFilesQuery, at)).workspace?.skill?.files ?? [];
  const found = files.find((file) => file.path === path);
  if (found === undefined) throw problem('not_found', `Somebody removed the file "${path}" meanwhile.`, null);
  const link = document.createElement('a');
  link.href = found.url;
  link.download = '';
  link.click();
}

function problem(code: 'invalid_input' | 'not_found', message: string, hint: string | null): ShownError {
  return new ShownError({ code, message, hint, requestId: null });
}

function hex(bytes: ArrayBuffer): string {
  return [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
