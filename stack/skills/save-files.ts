import type { BackendClient } from '../client/backend-client.ts';
import { addSkillFileMutation, removeSkillFileMutation } from '../client/generated/operations.ts';
import type { FolderFile } from './skill-folder.ts';

export interface SkillOf {
  readonly workspace: string;
  /** The id. */
  readonly skill: string;
}

/** A file of a skill without its bytes. */
export type FileHead = Pick<FolderFile, 'path' | 'digest' | 'sizeBytes'>;

interface FileToAdd extends FileHead {
  /** Digest of the present file with the path, empty without one. If it differs by now, the change is a conflict. */
  readonly replaced: string;
}

/** Adds a file to a skill, or replaces the one with its path. */
export async function addFile(backend: BackendClient, of: SkillOf, file: FileToAdd, bytes: Uint8Array): Promise<void> {
  const { path, digest, sizeBytes, replaced } = file;
  const input = { path, digest, sizeBytes, ifDigest: replaced };
  const { addSkillFile } = await backend.send(addSkillFileMutation, { ...of, input });
  await backend.upload(addSkillFile.url, bytes);
}

/** Makes the files of a skill equal to those of a folder. Removals come first, so that the limits of a skill hold. */
export async function saveFiles(
  backend: BackendClient,
  of: SkillOf,
  { wanted, present }: { readonly wanted: readonly FolderFile[]; readonly present: readonly FileHead[] },
): Promise<void> {
  const paths = new Set(wanted.map(({ path }) => path));
  const digests = new Map(present.map(({ path, digest }) => [path, digest]));
  for (const { path, digest } of present) {
    if (!paths.has(path)) await backend.send(removeSkillFileMutation, { ...of, path, ifDigest: digest });
  }
  for (const file of wanted) {
    const replaced = digests.get(file.path) ?? '';
    if (replaced !== file.digest) await addFile(backend, of, { ...file, replaced }, file.read());
  }
}
