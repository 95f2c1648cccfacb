import { execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { becomeCopy } from '../operations/become-copy.ts';
import { createInstallation } from '../operations/create-installation.ts';
import { readDefinition } from '../settings/check.ts';
import { findOriginal, readId } from '../state/find-original.ts';
import { findRunning } from '../state/find-running.ts';
import { type Installation, installationIn } from '../state/installation.ts';
import { acquireLock } from '../state/lock.ts';
import { readManifest, recordCreated } from '../state/manifest.ts';
import { readPlace } from '../state/place-record.ts';
import { writeRecord } from '../state/platform-record.ts';
import { ownIdentity, startTimeOf } from '../state/process-identity.ts';
import { editDefinition } from '../test/edit-definition.ts';
import { folderOfEachTest } from '../test/folder-of-each-test.ts';
import { findLosses, forgetData, hasLostSessions, recordData } from './kept-data.ts';
import { type StartEmpty, settleLosses } from './losses.ts';
import { refuseForeignFolder } from './refuse-foreign-folder.ts';
import { settlePlace } from './settle-place.ts';
import { watchData } from './watch-data.ts';

const folder = folderOfEachTest();
const ports = { backend: 21_001, 'remote-mcp': 21_002, runtime: 21_003, frontend: 21_004 };
let original: Installation;
let copy: Installation;

beforeEach(async () => {
  ({ installation: original } = await createInstallation({ dir: join(folder(), 'original'), ports }));
  copy = installationIn(join(folder(), 'copy'));
});

const settle = (installation: Installation) => settlePlace(installation, () => undefined);
const definitionOf = ({ definitionFile }: Installation) => readDefinition(definitionFile);

/** Writes the files that a start creates. */
function fill(installation: Installation): void {
  const { dataDir } = installation;
  for (const name of ['graph.sqlite', 'bus.sqlite']) writeFileSync(join(dataDir, name), 'data');
  mkdirSync(join(dataDir, 'blobs'));
  recordData(installation, definitionOf(installation));
}

function copyFolder(): void {
  cpSync(original.dir, copy.dir, { recursive: true });
}

function recordProcess(installation: Installation, process: { pid: number; startTime: string }): void {
  const urls = { app: '', api: '', mcp: '', runtime: '', keys: '' };
  const rest = { version: '1', topology: 'embedded' as const, foreground: false, settings: {}, urls, services: [] };
  writeRecord(installation, { ...process, ...rest });
}

describe('a folder', () => {
  test('is no copy in its own place, by a link, and where it was moved, also when a backup takes its old place', () => {
    expect(findOriginal(original)).toBeNull();
    symlinkSync(original.dir, join(folder(), 'link'));
    expect(findOriginal(installationIn(join(folder(), 'link')))).toBeNull();
    renameSync(original.dir, copy.dir);
    cpSync(copy.dir, original.dir, { recursive: true });
    expect(findOriginal(copy)).toBeNull();
    rmSync(original.dir, { recursive: true });
    expect(findOriginal(copy)).toBeNull();
    const notices: string[] = [];
    settlePlace(copy, (notice) => notices.push(notice));
    expect(notices).toEqual([`The folder was moved here from "${original.dir}".`]);
    expect(readPlace(copy)?.dir).toBe(copy.dir);
  });

  test('is a copy while the old path holds its id, and not once another installation is there', () => {
    copyFolder();
    expect(findOriginal(copy)).toEqual({ dir: original.dir, pid: null });
    expect(() => settle(copy)).toThrow(`is a copy of the installation in "${original.dir}"`);
    editDefinition(original, /^id: .*$/m, 'id: abcdefgh12345678');
    expect(findOriginal(copy)).toBeNull();
  });

  test('that replaced one whose process still runs elsewhere is a copy', () => {
    const running = join(folder(), 'running');
    copyFolder();
    renameSync(original.dir, running);
    renameSync(copy.dir, original.dir);
    // The copied record names this process, which runs in another folder.
    const child = spawn('sleep', ['60'], { cwd: running });
    onTestFinished(() => void child.kill());
    const pid = child.pid ?? 0;
    recordProcess(original, { pid, startTime: startTimeOf(pid) ?? '' });
    expect(findOriginal(original)).toEqual({ dir: running, pid });
    expect(findRunning(original)).toBeNull();
  });

  test('whose svc.yaml has another id than its state is refused', () => {
    editDefinition(original, /^id: .*$/m, 'id: abcdefgh12345678');
    expect(() => settle(original)).toThrow(
      expect.objectContaining({ code: 'conflict', hint: expect.stringContaining('Set id: ') }),
    );
  });

  test('whose svc.yaml is a pipe or a link has no id, and is not waited for', () => {
    const dir = join(folder(), 'trap');
    mkdirSync(dir);
    execFileSync('mkfifo', [join(dir, 'svc.yaml')]);
    expect(readId(dir)).toBeNull();
    rmSync(join(dir, 'svc.yaml'));
    symlinkSync(original.definitionFile, join(dir, 'svc.yaml'));
    expect(readId(dir)).toBeNull();
    expect(readId(original.dir)).toBe(definitionOf(original).id);
  });
});

test("a copied record of the lock's holder is not believed", () => {
  using _lock = acquireLock(original, 'platform');
  copyFolder();
  const holder = { pid: process.ppid, startTime: startTimeOf(process.ppid) };
  writeFileSync(join(copy.dataDir, 'platform.holder.json'), JSON.stringify(holder));
  expect(findRunning(original)).toMatchObject({ pid: process.pid });
  expect(findRunning(copy)).toBeNull();
});

describe('--as-copy', () => {
  const become = async (installation: Installation) => {
    const notices: string[] = [];
    await becomeCopy(installation, { startEmpty: null, onNotice: (notice) => notices.push(notice) });
    return notices;
  };

  test('gets an id, a name, ports and keys, keeps data, and loses records of the original', async () => {
    fill(original);
    recordCreated(original, [{ kind: 'volume', path: 'svc-original-nats' }]);
    recordProcess(original, ownIdentity());
    mkdirSync(join(original.dataDir, 'runtime/children'), { recursive: true });
    writeFileSync(join(original.dataDir, 'runtime/children/mark'), '');
    editDefinition(original, /^ {2}(backend|mcp|frontend): auto # .*http.*$/gm, '  $1: https://$1.example.com');
    copyFolder();
    rmSync(join(original.stateDir, 'process.json'));
    rmSync(join(copy.stateDir, 'process.json'));
    const notices = await become(copy);
    const [before, after] = [definitionOf(original), definitionOf(copy)];
    expect(after.id).not.toBe(before.id);
    expect(after.name).toBe('original-copy');
    for (const port of Object.values(after.ports)) expect(Object.values(ports)).not.toContain(port);
    expect(notices.join('\n')).toContain('publicUrls.mcp (https://mcp.example.com)');
    const isKept = (path: string) => existsSync(join(copy.dir, path));
    expect(['secrets/encryption.key', 'data/graph.sqlite'].filter(isKept)).toHaveLength(2);
    const lost = ['secrets/jwt-private.pem', 'data/bus.sqlite', 'data/runtime/children'];
    expect(lost.filter(isKept)).toEqual([]);
    expect(readManifest(copy).filter(({ kind }) => kind === 'volume')).toEqual([]);
    expect(readPlace(copy)).toMatchObject({ id: after.id, dir: copy.dir });
    expect(readPlace(copy)?.data.map(({ path }) => path)).toEqual(['data/graph.sqlite', 'data/blobs']);
    expect(() => settle(copy)).not.toThrow();
  });

  test.each([
    { cut: 'before state/ had the new id', lost: 'state/place.json' },
    { cut: 'before svc.yaml had the new id', lost: 'svc.yaml' },
    { cut: 'before data/ had the new id', lost: 'data/installation.json' },
  ])('that was interrupted $cut is refused until it is repeated', async ({ lost }) => {
    fill(original);
    copyFolder();
    await become(copy);
    cpSync(join(original.dir, lost), join(copy.dir, lost));
    expect(() => settle(copy)).toThrow(expect.objectContaining({ code: 'conflict' }));
    if (lost === 'data/installation.json') rmSync(join(copy.stateDir, 'place.json'));
    await become(copy);
    settle(copy);
    expect(definitionOf(copy).name).toBe('original-copy');
  });

  test('changes nothing of an installation in its own place', async () => {
    const before = readFileSync(original.definitionFile, 'utf8');
    expect(await become(original)).toEqual(['--as-copy changed nothing: this folder is not a copy.']);
    expect(readFileSync(original.definitionFile, 'utf8')).toBe(before);
  });

  test('is refused when the copy would use resources of the original', async () => {
    copyFolder();
    rmSync(copy.dataDir, { recursive: true });
    symlinkSync(original.dataDir, copy.dataDir);
    await expect(become(copy)).rejects.toMatchObject({ code: 'conflict', hint: expect.stringContaining('cp -aL') });
    rmSync(copy.dataDir);
    cpSync(original.dataDir, copy.dataDir, { recursive: true });
    editDefinition(copy, 'topology: embedded', 'topology: distributed');
    editDefinition(copy, 'servers: auto', 'servers: ["nats://nats.example.com:4222"]');
    const unsupported = { code: 'unsupported', message: expect.stringContaining('bus.servers') };
    await expect(become(copy)).rejects.toMatchObject(unsupported);
  });
});

describe('data', () => {
  const check = async (startEmpty: StartEmpty | null = null, runningPid: number | null = null) => {
    const definition = definitionOf(original);
    const settling = { startEmpty, runningPid, onNotice: () => undefined };
    const given = await settleLosses(findLosses(original, definition), settling);
    forgetData(original, definition, given);
  };

  test.each([
    { loss: 'removed', lose: (dir: string) => rmSync(dir, { recursive: true }), gone: ['graph.sqlite', 'blobs'] },
    { loss: 'on a disk that is not mounted', lose: emptyFolder, gone: ['graph.sqlite', 'blobs'] },
    { loss: 'cut to nothing', lose: (dir: string) => truncateSync(join(dir, 'graph.sqlite')), gone: ['graph.sqlite'] },
    { loss: 'without files of skills', lose: (dir: string) => rmdirSync(join(dir, 'blobs')), gone: ['blobs'] },
  ])('$loss is an error that names it', async ({ lose, gone }) => {
    fill(original);
    await check();
    lose(original.dataDir);
    const refused = await check().catch((error: unknown) => error);
    const repairs = /svc restore FILE\. .*svc up --start-empty$/;
    expect(refused).toMatchObject({ code: 'not_found', hint: expect.stringMatching(repairs) });
    for (const name of gone) expect(String(refused)).toContain(`"data/${name}" (there since 20`);
    const questions: (readonly string[])[] = [];
    await check(async (names) => void questions.push(names));
    expect(questions[0]).toHaveLength(gone.length);
    await check();
  });

  test('that was lost while the platform ran is noticed after its stop', async () => {
    fill(original);
    rmSync(join(original.dataDir, 'graph.sqlite'));
    recordData(original, definitionOf(original));
    await expect(check()).rejects.toThrow('"data/graph.sqlite" (there since 20');
    // The lost data exists only in the process that has it open.
    await expect(check(async () => undefined, 7)).rejects.toMatchObject({
      hint: 'The platform (pid 7) still has the data open. Save it: svc backup FILE. Then run: svc down',
    });
  });

  test('of a bus alone is reported, and does not prevent a start', async () => {
    fill(original);
    expect(hasLostSessions(original, definitionOf(original))).toBe(false);
    rmSync(join(original.dataDir, 'bus.sqlite'));
    await check();
    expect(hasLostSessions(original, definitionOf(original))).toBe(true);
  });

  test('of another installation is refused by its name', () => {
    fill(original);
    writeFileSync(join(original.dataDir, 'installation.json'), '{"id":"abcdefgh12345678","name":"sales"}');
    expect(() => settle(original)).toThrow('holds the data of the installation sales (id abcdefgh12345678)');
  });

  function emptyFolder(dir: string): void {
    rmSync(dir, { recursive: true });
    mkdirSync(dir);
  }
});

test('a platform ends once its data folder was replaced, and not where that was away for a moment', async () => {
  const patience = { lookMs: 5, goneMaxMs: 100 };
  using _lock = acquireLock(original, 'platform');
  const away = `${original.dataDir}.old`;
  let isGone = false;
  onTestFinished(watchData(original, patience, () => (isGone = true)));
  renameSync(original.dataDir, away);
  await pause(patience.goneMaxMs / 4);
  renameSync(away, original.dataDir);
  await pause(patience.goneMaxMs * 2);
  expect(isGone).toBe(false);
  renameSync(original.dataDir, away);
  cpSync(away, original.dataDir, { recursive: true });
  await expect.poll(() => isGone, { timeout: 5_000 }).toBe(true);
});

describe.runIf(process.geteuid?.() === 0)('a folder of another user, for root', () => {
  /** Neither root nor a user of the tests. */
  const mallory = 65_534;
  const refuse = () => refuseForeignFolder(original, 'svc down');
  const expectRefused = (words: string) =>
    expect(refuse).toThrow(expect.objectContaining({ code: 'forbidden', message: expect.stringContaining(words) }));

  test.each(['svc.yaml', 'state', 'state/manifest.json', 'secrets', 'secrets/jwt-private.pem'])(
    '%s of another user is refused',
    (name) => {
      refuse();
      chownSync(join(original.dir, name), mallory, mallory);
      expectRefused(`${name}" belongs to`);
    },
  );

  test('what all may write to, and a link to a state/ of another user, are refused', () => {
    chmodSync(original.definitionFile, 0o666);
    expectRefused('mode is 0666');
    chmodSync(original.dir, 0o777);
    expectRefused('mode is 0777');
    for (const path of [original.definitionFile, original.dir]) chmodSync(path, 0o755);
    refuse();
    const theirs = join(folder(), 'theirs');
    renameSync(original.stateDir, theirs);
    chownSync(theirs, mallory, mallory);
    symlinkSync(theirs, original.stateDir);
    expectRefused('state" belongs to');
  });

  test('a socket and a pipe in state/ are not opened', async () => {
    execFileSync('mkfifo', [join(original.stateDir, 'process.json')]);
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(join(original.stateDir, 'control.sock'), resolve));
    onTestFinished(() => void server.close());
    refuse();
  });
});
