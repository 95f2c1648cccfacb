import { type Digest, parseDigest } from '../../contracts/digest.ts';
import { SvcError } from '../../contracts/errors.ts';
import { parseFilePath } from '../../contracts/file-path.ts';
import { newId, type WorkspaceId } from '../../contracts/ids.ts';
import { filesOfSkillMax, filesOfSkillMaxBytes } from '../../contracts/workspace-limits.ts';
import { type Change, type ChangeNeeds, change } from '../activity/change.ts';
import { repeat } from '../activity/changed-meanwhile.ts';
import type { WithConfig } from '../bus/with-bus.ts';
import { getNode, tooMany } from '../graph/get-node.ts';
import type { Graph, Node, Transaction } from '../graph/graph.ts';
import { getAccess } from '../members/access.ts';
import type { WithSecrets } from '../secrets/secrets.ts';
import type { TokenPrincipal } from '../tokens/verify-token.ts';
import type { WithBlobs } from './blobs.ts';
import { reserveBlob, useBlob } from './keep-blobs.ts';
import { type SignedUrl, signUrl, type Ticket } from './tickets.ts';

export interface FileInput {
  readonly path: string;
  /** sha256 of the announced bytes. */
  readonly digest: string;
  readonly sizeBytes: number;
  /** Digest of the file that may be replaced, empty for none; absent: any. */
  readonly ifDigest?: string | null | undefined;
}

type FileChangeNeeds = ChangeNeeds & WithConfig & WithSecrets & WithBlobs;

/** Returns the address for the bytes of a file. Nothing changes before they arrive. */
export async function offerUpload(
  backend: FileChangeNeeds,
  principal: TokenPrincipal,
  { workspace, skill: skillId }: SkillOf,
  input: FileInput,
): Promise<SignedUrl> {
  await getAccess(backend.graph, { principal, workspace, right: 'edit' });
  const skill = await getNode(backend.graph, 'skill', skillId, workspace);
  const [path, digest] = [parseFilePath(input.path), parseDigest(input.digest)];
  const sizeBytes = parseSize(input.sizeBytes, backend.config.SVC_MAX_FILE_SIZE_MB);
  await requireRoom(backend.graph, skill, { path, sizeBytes });
  const replaced = input.ifDigest ?? null;
  return signUrl(backend, { does: 'upload', principal, workspace, skill: skill.id, path, digest, sizeBytes, replaced });
}

export interface SkillOf {
  readonly workspace: WorkspaceId;
  readonly skill: string;
}

/** Takes the bytes of an offered upload, and makes them a file of the skill. */
export async function upload(
  backend: FileChangeNeeds,
  { principal, workspace, skill: skillId, path, digest, sizeBytes, replaced }: Ticket,
  bytes: AsyncIterable<Uint8Array>,
): Promise<Node<'file'>> {
  await getAccess(backend.graph, { principal, workspace, right: 'edit' });
  const offered = await getNode(backend.graph, 'skill', skillId, workspace);
  // Others may have been uploaded since the offer: refused bytes would stay on the disk for a while.
  await requireRoom(backend.graph, offered, { path, sizeBytes });
  await reserveBlob(backend.graph, digest);
  await backend.blobs.put({ digest, sizeBytes }, bytes);
  return await change(backend, { principal, workspace, right: 'edit' }, async (change) => {
    const skill = await getNode(change.transaction, 'skill', skillId, workspace);
    await requireRoom(change.transaction, skill, { path, sizeBytes });
    return await setFile(change, skill, { path, digest, sizeBytes, replaced });
  });
}

interface FileToSet extends FileOf {
  readonly digest: Digest;
  readonly sizeBytes: number;
}

async function setFile(
  change: Change,
  skill: Node<'skill'>,
  { path, digest, sizeBytes, replaced }: FileToSet,
): Promise<Node<'file'>> {
  const { transaction, workspace } = change;
  const before = await transaction.findBy('file', { skill: skill.id, path }, workspace);
  if (before?.digest === digest) return before;
  requireDigest(skill, before, { path, replaced });
  // A new file id, so that a reader by id never gets half of each.
  if (before !== null) await transaction.remove('file', before.id, workspace);
  const created = { skill: skill.id, path, digest, sizeBytes, createdAt: Date.now() };
  const file = await transaction.create('file', { id: newId('file'), workspace, ...created });
  await transaction.link({ from: 'file', edge: 'of' }, file.id, [skill.id]);
  await transaction.link({ from: 'file', edge: 'content' }, file.id, [await useBlob(transaction, digest)]);
  await changeSkill(change, skill, { path, ...(before === null ? {} : { from: before.digest }), to: digest });
  return file;
}

interface FileOf {
  readonly path: string;
  /** Digest of the present file, empty for none; null: any. */
  readonly replaced: string | null;
}

export function removeFile(
  backend: ChangeNeeds,
  principal: TokenPrincipal,
  { workspace, skill: skillId }: SkillOf,
  { path, replaced }: FileOf,
): Promise<void> {
  return change(backend, { principal, workspace, right: 'edit' }, async (change) => {
    const { transaction } = change;
    const skill = await getNode(transaction, 'skill', skillId, workspace);
    const file = await transaction.findBy('file', { skill: skill.id, path: path.normalize('NFC') }, workspace);
    requireDigest(skill, file, { path, replaced });
    if (file === null) throw noSuchFile(skill, path);
    await transaction.remove('file', file.id, workspace);
    await changeSkill(change, skill, { path: file.path, from: file.digest });
  });
}

/** Throws `conflict` unless the file is still the one that the change is based on. */
function requireDigest({ name }: Node<'skill'>, file: Node<'file'> | null, { path, replaced }: FileOf): void {
  if (replaced === null || replaced === (file?.digest ?? '')) return;
  const what =
    file === null
      ? 'removed meanwhile'
      : replaced === ''
        ? `added meanwhile: sha256 ${short(file.digest)}`
        : `changed meanwhile: sha256 from ${short(replaced)} to ${short(file.digest)}`;
  throw new SvcError('conflict', `The file ${JSON.stringify(path.slice(0, 80))} of the skill "${name}" was ${what}.`, {
    hint: repeat(`svc file list "${name}"`),
  });
}

/** As `svc file list` shows it. */
function short(digest: string): string {
  return digest.slice(0, 12);
}

interface FileChange {
  readonly path: string;
  readonly from?: string;
  readonly to?: string;
}

/** The files are a part of the skill, so its version rises. */
async function changeSkill(
  { transaction, workspace, record }: Change,
  { id, name }: Node<'skill'>,
  { path, ...digests }: FileChange,
): Promise<void> {
  await transaction.update('skill', id, { name }, { anchor: workspace });
  const changes = { [`file ${path}`]: digests };
  record({ action: 'update', subject: id, subjectKind: 'skill', subjectName: name, changes });
}

/** Removes the files of a removed skill. */
export async function removeFilesOf(transaction: Transaction, skill: Node<'skill'>): Promise<void> {
  for (const { id } of await filesOf(transaction, skill)) await transaction.remove('file', id, skill.workspace);
}

export function noSuchFile({ name }: Node<'skill'>, path: string): SvcError {
  return new SvcError('not_found', `The skill "${name}" has no file ${JSON.stringify(path.slice(0, 80))}.`);
}

/** A replaced file frees its own space. */
async function requireRoom(
  graph: Pick<Graph, 'followBack'>,
  skill: Node<'skill'>,
  { path, sizeBytes }: { readonly path: string; readonly sizeBytes: number },
): Promise<void> {
  const others = (await filesOf(graph, skill)).filter((file) => file.path !== path);
  if (others.length >= filesOfSkillMax) throw tooMany('files in a skill', filesOfSkillMax);
  const total = others.reduce((sum, file) => sum + file.sizeBytes, sizeBytes);
  if (total <= filesOfSkillMaxBytes) return;
  const mib = filesOfSkillMaxBytes / 1024 / 1024;
  throw new SvcError(
    'too_large',
    `With it the files of "${skill.name}" would be ${total} bytes: ${mib} MiB are allowed.`,
  );
}

async function filesOf(graph: Pick<Graph, 'followBack'>, { id, workspace }: Node<'skill'>) {
  const options = { anchor: workspace, limitEach: filesOfSkillMax };
  return (await graph.followBack({ from: 'file', edge: 'of' }, [id], options)).get(id) ?? [];
}

function parseSize(sizeBytes: number, maxMb: number): number {
  if (!Number.isInteger(sizeBytes) || sizeBytes < 0) {
    throw new SvcError('invalid_input', `"sizeBytes" is ${sizeBytes}: it must be the number of bytes of the file.`);
  }
  if (sizeBytes <= maxMb * 1024 * 1024) return sizeBytes;
  throw new SvcError('too_large', `A file of ${sizeBytes} bytes is too large: ${maxMb} MB are allowed.`, {
    hint: 'An operator can raise the limit: limits.fileSizeMaxMb in svc.yaml.',
  });
}
