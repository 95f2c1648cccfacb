import type { CancelSignal } from '../../kit/cancellation.ts';
import type { Skill, SkillFile } from '../catalogue/catalogue.ts';
import { explainInactive, explainUnknownSkill } from './explain.ts';
import type { FilePart, ReadFile } from './read-file.ts';
import { failed, type ToolText, told } from './tool-text.ts';
import { findSkill, isUsable, type View } from './view.ts';

/** The part of a text that one call returns. */
const textMaxBytes = 128 * 1024;
/** The largest binary file that is returned, because it cannot be split. */
const otherMaxBytes = 2 * 1024 * 1024;

export interface ReadSkillFileArguments {
  readonly skill?: unknown;
  readonly path?: unknown;
  readonly offset?: unknown;
}

/** Returns a file of a skill: a text in parts, any other file as a whole. The skill must be usable, but not loaded. */
export async function readSkillFile(
  view: View,
  { skill: nameOrId, path, offset = 0 }: ReadSkillFileArguments,
  { readFile, signal }: { readonly readFile: ReadFile; readonly signal: CancelSignal },
): Promise<ToolText> {
  if (typeof nameOrId !== 'string' || nameOrId === '' || typeof path !== 'string' || path === '') {
    return failed('Give the name of a skill and the path of a file of it: {"skill": "…", "path": "…"}.');
  }
  const skill = findSkill(view, nameOrId);
  if (skill === null) return failed(explainUnknownSkill(nameOrId));
  if (!isUsable(view, skill)) return failed(explainInactive(view, skill));
  const file = skill.files.find((one) => one.path === path.normalize('NFC'));
  if (file === undefined) {
    const words = `The skill "${skill.name}" has no file ${JSON.stringify(path.slice(0, 255))}.`;
    return failed(`${words} load_skill lists its files.`);
  }
  if (typeof offset !== 'number' || !Number.isInteger(offset) || offset < 0 || offset > file.sizeBytes) {
    return failed(`"offset" must be a whole number from 0 to ${file.sizeBytes}, which is how many bytes the file has.`);
  }
  const { workspace } = view.catalogue;
  const read: ReadPart = (start, lengthMax) => readFile({ workspace, file: file.id, start, lengthMax }, signal);
  return (await give({ skill, file, offset }, read)) ?? failed(changed(skill, file));
}

type ReadPart = (start: number, lengthMax: number) => Promise<FilePart | null>;

interface FileRequest {
  readonly skill: Skill;
  readonly file: SkillFile;
  readonly offset: number;
}

/** Null if the file no longer exists. */
async function give({ skill, file, offset }: FileRequest, read: ReadPart): Promise<ToolText | null> {
  if (offset === file.sizeBytes) return told('');
  const part = await read(offset, textMaxBytes);
  if (part === null) return null;
  const isLast = offset + part.bytes.byteLength >= file.sizeBytes;
  const whole = isLast ? part.bytes : upToWholeLetter(part.bytes);
  const text = textOf(whole);
  if (text !== null) {
    const next = offset + whole.byteLength;
    return isLast ? told(text) : told(text, `${file.sizeBytes - next} more bytes: go on with "offset": ${next}.`);
  }
  if (offset !== 0 || file.sizeBytes > otherMaxBytes) {
    return failed(`${name(file)} is no text, and is given as a whole only, up to ${otherMaxBytes} bytes.`);
  }
  const all = isLast ? part : await read(0, otherMaxBytes);
  if (all === null) return null;
  const data = Buffer.from(all.bytes).toString('base64');
  return { ...told(`${name(file)}:`), attached: { uri: uriOf(skill, file), mediaType: all.mediaType, data } };
}

/** The files of a skill, for the answer of load_skill; empty if it has none. */
export function describeFiles({ files }: Skill): string {
  if (files.length === 0) return '';
  return ['Files of this skill, to be read with read_skill_file:', ...files.map((file) => `- ${name(file)}`)].join(
    '\n',
  );
}

function name({ path, sizeBytes }: SkillFile): string {
  return `${JSON.stringify(path)} (${sizeBytes} bytes)`;
}

function changed(skill: Skill, { path }: SkillFile): string {
  return `The file ${JSON.stringify(path)} has just been changed or removed. Load the skill "${skill.name}" again to see its present files.`;
}

/** The address of a skill's file by Skills over MCP (SEP-2640). */
function uriOf({ name: skill }: Skill, { path }: SkillFile): string {
  return `skill://${skill}/${path.split('/').map(encodeURIComponent).join('/')}`;
}

/** Cuts off an incomplete character at the end; the next part begins with it. */
function upToWholeLetter(bytes: Uint8Array): Uint8Array {
  for (let back = 1; back <= 3 && back < bytes.length; back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    const isContinuation = (byte & 0xc0) === 0x80;
    if (isContinuation) continue;
    const letterBytes = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return letterBytes > back ? bytes.subarray(0, bytes.length - back) : bytes;
  }
  return bytes;
}

/** Null if the bytes are not text. */
function textOf(bytes: Uint8Array): string | null {
  if (bytes.includes(0)) return null;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}
