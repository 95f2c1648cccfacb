import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { all, blobOf, inChunks } from '../../../../services/backend/files/blobs.contract.ts';
import { readBlobs } from '../../../../services/backend/files/content.ts';
import { type BlobsPlace, openBlobsContent } from '../../../../services/backend/files/open-content.ts';
import { type KindOfContent, readContent } from '../../../../services/backend/graph/content.ts';
import { openGraphContent } from '../../../../services/backend/graph/open-content.ts';
import { type BusContentOptions, openBusContent } from '../../../../services/kit/bus/open-content.ts';
import { replaceScalar } from '../../../settings/yaml-text.ts';
import { blobsIn, busIn, graphIn } from '../../../state/data-files.ts';
import { type Installation, installationIn } from '../../../state/installation.ts';
import { down } from '../../down.ts';
import { confirmReplacement, type EndOptions, type Loss, undoReplacement } from '../../replace/end-replacement.ts';
import type { ReplaceProgress } from '../../replace/replace.ts';
import { readReplacement } from '../../replace/replacement.ts';
import { settleReplacement } from '../../replace/settle-replacement.ts';
import type { Side, WantedSide } from '../../replace/side.ts';
import { embedded } from '../../test/sides.ts';
import { openTrial } from '../../test/trial.ts';
import { up } from '../../up.ts';
import { type Moved, type MoveOptions, move } from '../move.ts';

const texts = ['one', 'two', 'three'];
const file = Buffer.from('what a skill says in a file');

/** The stores for the content of an installation's bus and for the files of its skills. */
export interface ContentStores {
  readonly bus: BusContentOptions;
  readonly blobs: BlobsPlace;
}

/** Sessions live longer than a suite runs. */
export const keyMaxAgeMs = 3_600_000;

function keptIn({ dataDir }: Installation): ContentStores {
  const bus = { engine: 'sqlite', file: busIn(dataDir, 'embedded'), keyMaxAgeMs } as const;
  return { bus, blobs: { engine: 'folder', dir: blobsIn(dataDir) } };
}

/** Adds three records and two sessions. */
export async function fillBus(options: BusContentOptions): Promise<void> {
  const bus = await openBusContent(options);
  await bus.addRecords('usage', Readable.from(texts.map((text) => ({ payload: Buffer.from(text) }))));
  const expiresAt = Date.now() + options.keyMaxAgeMs;
  const sessions = ['a', 'b'].map((key) => ({ key, value: Buffer.from(`session ${key}`), expiresAt }));
  await bus.addEntries('sessions', Readable.from(sessions));
  await bus.close();
}

/** Adds three records, two sessions and a file. */
export async function fill({ bus, blobs }: ContentStores): Promise<void> {
  await fillBus(bus);
  await using opened = await openBlobsContent(blobs);
  await opened.blobs.put(blobOf(file), inChunks(file));
}

export async function readKept({ bus: options, blobs }: ContentStores) {
  const bus = await openBusContent(options);
  const usage = (await all(bus.records('usage'))).map(({ payload }) => Buffer.from(payload).toString());
  const sessions = (await all(bus.entries('sessions'))).map(({ key, value }) => `${key} ${Buffer.from(value)}`);
  await bus.close();
  await using opened = await openBlobsContent(blobs);
  return { usage, sessions: sessions.sort(), files: [{ kind: 'files', ...(await readBlobs(opened.blobs)) }] };
}

/** The whole content of an installation in one process. */
export async function contentOf(installation: Installation) {
  const { dataDir, definitionFile } = installation;
  const content = await openGraphContent({ engine: 'sqlite', file: graphIn(dataDir, 'sqlite'), readOnly: true });
  const graph = await readContent(content);
  await content.close();
  return { ...(await readKept(keptIn(installation))), graph, definition: readFileSync(definitionFile, 'utf8') };
}

/** Opens an installation that ran once and is stopped, with content in its bus and its skills. */
export async function openFilled() {
  const trial = await openTrial();
  const { installation } = trial;
  await up({ installation, env: process.env });
  await down({ installation });
  const { definitionFile } = installation;
  const text = readFileSync(definitionFile, 'utf8');
  // The sessions must outlive the slowest suite.
  writeFileSync(definitionFile, replaceScalar(text, ['limits', 'sessionIdleTimeoutMs'], String(keyMaxAgeMs)));
  await fill(keptIn(installation));
  return trial;
}

/** One filled installation. Each test of a `describe` moves a copy of it. */
export function filledCopies() {
  let filled: Awaited<ReturnType<typeof openFilled>>;
  let original: Awaited<ReturnType<typeof contentOf>>;
  const folders: string[] = [];
  beforeAll(async () => {
    filled = await openFilled();
    original = await contentOf(filled.installation);
  });
  afterEach(async () => {
    for (const folder of folders.splice(0)) {
      // A test may have renamed the copy.
      for (const name of readdirSync(folder)) await down({ installation: installationIn(join(folder, name)) });
      rmSync(folder, { recursive: true });
    }
  });
  afterAll(() => filled?.[Symbol.asyncDispose]());
  return {
    original: () => original,
    copy() {
      const folder = realpathSync(mkdtempSync(join(tmpdir(), 'svc-move-')));
      folders.push(folder);
      const copy = installationIn(join(folder, 'copy'));
      cpSync(filled.installation.dir, copy.dir, { recursive: true });
      // place.json names the folder of the original, so this folder would be refused as a copy.
      rmSync(join(copy.stateDir, 'place.json'));
      return copy;
    },
  };
}

interface MoveSettings extends Partial<MoveOptions> {
  /** Called at the beginning of each step. */
  readonly onStep?: (step: string) => unknown;
}

/** Moves, and confirms every question. */
export function moveTo(installation: Installation, to: WantedSide, { onStep, ...settings }: MoveSettings = {}) {
  const onProgress = (progress: ReplaceProgress) => progress.kind === 'step' && onStep?.(progress.step);
  return move({ installation, to, env: process.env, confirm: async () => undefined, onProgress, ...settings });
}

const onProgress = () => undefined;

export function confirmMove(installation: Installation, tell: () => void = () => undefined) {
  return confirmReplacement({ installation, env: process.env, onProgress, command: 'move' }, tell);
}

/** Returns the loss that the undo reports to the operator before it begins. */
export async function undoMove(
  installation: Installation,
  env: EndOptions['env'] = process.env,
): Promise<Loss | undefined> {
  const losses: Loss[] = [];
  const confirm = async (loss: Loss) => void losses.push(loss);
  await undoReplacement({ installation, env, onProgress, command: 'move' }, confirm);
  return losses[0];
}

/** Returns the notices. */
export async function settleMove(installation: Installation): Promise<readonly string[]> {
  const notices: string[] = [];
  await settleReplacement(installation, { env: process.env, onNotice: (message) => void notices.push(message) });
  return notices;
}

/** The names in data/ that only a move creates. */
export function leftovers({ dataDir }: Installation): readonly string[] {
  const names = existsSync(dataDir) ? readdirSync(dataDir) : [];
  return names.filter((name) => name === 'volumes' || name.startsWith('before-'));
}

export function countOf(moved: readonly KindOfContent[], kind: string): number | undefined {
  return moved.find((one) => one.kind === kind)?.count;
}

/** Expects that the move carried the records and sessions of the filled bus. */
export function expectBusIn({ moved }: Moved): void {
  expect([countOf(moved, 'bus.usage'), countOf(moved, 'bus.sessions')]).toEqual([texts.length, 2]);
}

/** Moves a filled installation out of its single process, and expects that its whole content was moved. */
export async function moveAll(installation: Installation, to: Side): Promise<Moved> {
  const { graph, files } = await contentOf(installation);
  const there = await moveTo(installation, to);
  expect(there).toMatchObject({ state: 'moved', from: embedded, to, downMs: null });
  expectBusIn(there);
  expect(there.moved).toEqual(expect.arrayContaining([...graph, ...files]));
  return there;
}

/** Expects that no replacement is under way, and that none has left files. */
export function expectSettled(installation: Installation): void {
  expect([leftovers(installation), readReplacement(installation)]).toEqual([[], null]);
}
