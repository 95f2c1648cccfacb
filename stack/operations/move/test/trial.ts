import { spawn } from 'node:child_process';
import { once } from 'node:events';
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
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { all, blobOf, inChunks } from '../../../../services/backend/files/blobs.contract.ts';
import { readBlobs } from '../../../../services/backend/files/content.ts';
import { openBlobsContent } from '../../../../services/backend/files/open-content.ts';
import { type KindOfContent, readContent } from '../../../../services/backend/graph/content.ts';
import { openGraphContent } from '../../../../services/backend/graph/open-content.ts';
import type { NatsContentOptions } from '../../../../services/kit/bus/content.ts';
import { openBusContent } from '../../../../services/kit/bus/open-content.ts';
import { replaceScalar } from '../../../settings/yaml-text.ts';
import { blobsIn, busIn, graphIn } from '../../../state/data-files.ts';
import { type Installation, installationIn } from '../../../state/installation.ts';
import { down } from '../../down.ts';
import { confirmReplacement, type EndOptions, type Loss, undoReplacement } from '../../replace/end-replacement.ts';
import type { ReplaceProgress } from '../../replace/replace.ts';
import { readReplacement } from '../../replace/replacement.ts';
import { settleReplacement } from '../../replace/settle-replacement.ts';
import type { WantedSide } from '../../replace/side.ts';
import { openTrial } from '../../test/trial.ts';
import { up } from '../../up.ts';
import { type MoveOptions, move } from '../move.ts';

const keyMaxAgeMs = 3_600_000;
const texts = ['one', 'two', 'three'];

/** An installation that ran once, and whose bus keeps three records and two sessions. It does not run. */
export async function openFilled() {
  const trial = await openTrial();
  const { installation } = trial;
  await up({ installation, env: process.env });
  await down({ installation });
  await fill({ engine: 'sqlite', file: busIn(installation.dataDir, 'embedded') });
  await addFile(installation);
  return trial;
}

/** One filled installation, of which each test of a `describe` moves a copy. */
export function filledCopies(
  around: {
    prepare?: (installation: Installation) => void;
    clear?: (installation: Installation) => Promise<unknown>;
  } = {},
) {
  const { prepare = () => undefined, clear = (installation) => down({ installation }) } = around;
  let filled: Awaited<ReturnType<typeof openFilled>>;
  let original: Awaited<ReturnType<typeof contentOf>>;
  let copied: Installation | null = null;
  beforeAll(async () => {
    filled = await openFilled();
    const { definitionFile } = filled.installation;
    // Sessions live longer than the suite takes, wherever it runs.
    const text = readFileSync(definitionFile, 'utf8');
    writeFileSync(definitionFile, replaceScalar(text, ['limits', 'sessionIdleTimeoutMs'], String(keyMaxAgeMs)));
    prepare(filled.installation);
    original = await contentOf(filled.installation);
  });
  afterEach(async () => {
    if (copied === null) return;
    await clear(copied);
    rmSync(copied.dir, { recursive: true, force: true });
    copied = null;
  });
  afterAll(() => filled?.[Symbol.asyncDispose]());
  return {
    original: () => original,
    copy() {
      const dir = realpathSync(mkdtempSync(join(tmpdir(), 'svc-move-')));
      cpSync(filled.installation.dir, dir, { recursive: true });
      copied = installationIn(dir);
      // Recorded as the place of another folder, this one would be refused as a copy.
      rmSync(join(copied.stateDir, 'place.json'));
      return copied;
    },
    /** Follows a copy that a test has renamed. */
    renamed: (installation: Installation) => {
      copied = installation;
    },
  };
}

export async function fill(where: Where): Promise<void> {
  const bus = await openBusContent({ ...where, keyMaxAgeMs });
  await bus.addRecords('usage', Readable.from(texts.map((text) => ({ payload: Buffer.from(text) }))));
  const expiresAt = Date.now() + keyMaxAgeMs;
  const sessions = ['a', 'b'].map((key) => ({ key, value: Buffer.from(`session ${key}`), expiresAt }));
  await bus.addEntries('sessions', Readable.from(sessions));
  await bus.close();
}

async function addFile({ dataDir }: Installation): Promise<void> {
  const bytes = Buffer.from('what a skill says in a file');
  await using opened = await openBlobsContent({ engine: 'folder', dir: blobsIn(dataDir) });
  await opened.blobs.put(blobOf(bytes), inChunks(bytes));
}

type Where =
  | { readonly engine: 'sqlite'; readonly file: string }
  | ({ readonly engine: 'nats' } & Omit<NatsContentOptions, 'keyMaxAgeMs'>);

/** Everything that an installation in one process holds. */
export async function contentOf({ dataDir, definitionFile }: Installation) {
  const bus = await openBusContent({ engine: 'sqlite', file: busIn(dataDir, 'embedded'), keyMaxAgeMs });
  const usage = (await all(bus.records('usage'))).map(({ payload }) => Buffer.from(payload).toString());
  const sessions = (await all(bus.entries('sessions'))).map(({ key, value }) => `${key} ${Buffer.from(value)}`);
  await bus.close();
  const graph = await openGraphContent({ engine: 'sqlite', file: graphIn(dataDir, 'sqlite'), readOnly: true });
  const kinds = await readContent(graph);
  await graph.close();
  await using opened = await openBlobsContent({ engine: 'folder', dir: blobsIn(dataDir) });
  return {
    files: [{ kind: 'files', ...(await readBlobs(opened.blobs)) }],
    usage,
    sessions: sessions.sort(),
    graph: kinds,
    definition: readFileSync(definitionFile, 'utf8'),
  };
}

interface MoveSettings extends Partial<MoveOptions> {
  /** Called at the beginning of each step. */
  readonly onStep?: (step: string) => unknown;
}

/** Moves without a question. */
export function moveTo(installation: Installation, to: WantedSide, { onStep, ...settings }: MoveSettings = {}) {
  const onProgress = (progress: ReplaceProgress) => progress.kind === 'step' && onStep?.(progress.step);
  return move({ installation, to, env: process.env, confirm: async () => undefined, onProgress, ...settings });
}

const onProgress = () => undefined;

export function confirmMove(installation: Installation, tell: () => void = () => undefined) {
  return confirmReplacement({ installation, env: process.env, onProgress, command: 'move' }, tell);
}

/** Returns what the undo loses, as the operator is told before. */
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

interface Doomed {
  readonly verb?: 'move' | 'undo';
  readonly to?: WantedSide;
}

function spawnMove({ dir }: Installation, { verb = 'move', to = { topology: 'distributed' } }: Doomed, step: string) {
  const program = fileURLToPath(new URL('./move-and-die.ts', import.meta.url));
  const args = [program, verb, dir, JSON.stringify(to), step];
  return spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'ignore'] });
}

/** Kills the command so many milliseconds after it began to stop the platform. Returns whether it had ended by itself. */
export async function endsBefore(installation: Installation, { afterMs, ...doomed }: Doomed & { afterMs: number }) {
  const child = spawnMove(installation, doomed, 'never');
  const ended = once(child, 'exit');
  await Promise.race([once(child.stdout, 'data'), ended]);
  const timer = setTimeout(() => child.kill('SIGKILL'), afterMs);
  const [code] = await ended;
  clearTimeout(timer);
  return code === 0;
}

/** Kills the command at that step, or as soon as it has started the part of that name. Returns the signal that ended it. */
export async function killedMove(installation: Installation, { step, ...doomed }: Doomed & { step: string }) {
  const child = spawnMove(installation, doomed, step);
  child.stdout.resume();
  const [, signal] = await once(child, 'exit');
  return signal;
}

/** What only a move puts there. */
export function leftovers({ dataDir }: Installation): readonly string[] {
  const names = existsSync(dataDir) ? readdirSync(dataDir) : [];
  return names.filter((name) => name === 'volumes' || name.startsWith('before-'));
}

export function countOf(moved: readonly KindOfContent[], kind: string): number | undefined {
  return moved.find((one) => one.kind === kind)?.count;
}

/** The records and sessions of the filled bus are among what was moved. */
export function expectBusIn({ moved }: { moved: readonly KindOfContent[] }): void {
  expect([countOf(moved, 'bus.usage'), countOf(moved, 'bus.sessions')]).toEqual([texts.length, 2]);
}

/** No replacement is under way, and nothing of one is left. */
export function expectSettled(installation: Installation): void {
  expect([leftovers(installation), readReplacement(installation)]).toEqual([[], null]);
}
