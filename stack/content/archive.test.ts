import { hash, randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { gunzipSync, gzipSync } from 'node:zlib';
import { Encrypter } from 'age-encryption';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { blobOf, inChunks } from '../../services/backend/files/blobs.contract.ts';
import { filled } from '../../services/backend/graph/content.contract.ts';
import { carryContent, type readContent } from '../../services/backend/graph/content.ts';
import { openSqliteContent } from '../../services/backend/graph/sqlite/content.ts';
import { Secret } from '../../services/contracts/secret.ts';
import { countsIn, readArchive } from './archive.ts';
import { formatVersion, lineBytesMax } from './archive-format.ts';
import { ArchiveWriter } from './archive-writer.ts';

const { signal } = new AbortController();
const folder = mkdtempSync(join(tmpdir(), 'svc-archive-'));
const whole = join(folder, 'whole.backup.gz');
const files = [Buffer.alloc(0), Buffer.from('small'), randomBytes(400_000)];
const head = {
  svc: 'backup',
  format: formatVersion,
  version: '1.2.3',
  createdAt: '2026-01-02T03:04:05.678Z',
  encryptionKey: '0123456789abcdef',
  bus: 'exact',
} as const;
const hourMs = 3_600_000;
const texts = ['one', 'two', 'three'];
const records = texts.map((text) => ({ payload: Buffer.from(text) }));
const expiresAt = Date.now() + hourMs;
const entries = ['a', 'b'].map((key) => ({ key, value: Buffer.from(`session ${key}`), expiresAt }));
let made = 0;
let graph: Awaited<ReturnType<typeof readContent>>;

beforeAll(async () => {
  const source = join(folder, 'source.sqlite');
  await filled({ url: `file:${source}` });
  const content = openSqliteContent({ file: source, readOnly: true });
  const writer = new ArchiveWriter(await open(whole, 'wx'), head);
  await writer.addRecords('usage', Readable.from(records));
  await writer.addEntries('sessions', Readable.from(entries));
  graph = await carryContent(content, writer);
  for (const bytes of files) await writer.addFile(blobOf(bytes), inChunks(bytes));
  await writer.end();
  await content.close();
});
afterAll(() => rmSync(folder, { recursive: true }));

async function check(file: string, passphrase: Secret | null = null) {
  const content = await readArchive({ file, passphrase }, signal);
  const { head, secrets, graph } = content;
  return { head, secrets, graph, ...countsIn(content) };
}

const lines = () => gunzipSync(readFileSync(whole)).toString('utf8').trimEnd().split('\n');

function written(bytes: Uint8Array): string {
  const file = join(folder, `${++made}.backup.gz`);
  writeFileSync(file, bytes);
  return file;
}

function packed(some: readonly string[]): string {
  return written(gzipSync(some.map((line) => `${line}\n`).join('')));
}

/** `count` offsets in the archive, evenly spaced. */
function placesIn(bytes: Uint8Array, count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => Math.floor((bytes.length * (index + 1)) / (count + 1)));
}

function damaged(bytes: Uint8Array, at: number): Buffer {
  const turned = Buffer.from(bytes);
  turned[at] = (turned[at] ?? 0) ^ 0x55;
  return turned;
}

it('a written archive can be read', async () => {
  const counts = { files: { count: 3, bytes: 400_005 }, usage: 3, sessions: 2 };
  expect(await check(whole)).toEqual({ head, graph, secrets: new Map(), ...counts });
});

describe('an archive of an earlier version is read', () => {
  it.each([
    [1, 'none', { skill: 5, tool: 1, key: 1, graph: 20 }, { count: 1, bytes: 5 }],
    [2, 'approximate', { skill: 1, tool: 5, key: 1, graph: 38 }, { count: 1, bytes: 3 }],
  ] as const)('format %i', async (format, bus, counts, files) => {
    const found = await check(fileURLToPath(new URL(`./test/format-${format}.backup.gz`, import.meta.url)));
    expect(found).toMatchObject({ head: { format, bus }, files, usage: 0, sessions: 0 });
    const countOf = (kind: string) => found.graph.find((one) => one.kind === kind)?.count ?? 0;
    expect(Object.fromEntries(Object.keys(counts).map((kind) => [kind, countOf(kind)]))).toEqual(counts);
  });

  it('and a field that it lacks is damage in an archive of this version', async () => {
    const older = new URL('./test/format-2.backup.gz', import.meta.url);
    const [first = '', ...rest] = gunzipSync(readFileSync(older)).toString().trimEnd().split('\n');
    const text = [JSON.stringify({ ...JSON.parse(first), format: formatVersion }), ...rest.slice(0, -1)].join('\n');
    const end = JSON.parse(rest.at(-1) ?? '');
    end.end.sha256 = hash('sha256', `${text}\n`);
    const file = join(folder, 'newer.backup.gz');
    writeFileSync(file, gzipSync(`${text}\n${JSON.stringify(end)}\n`));
    await expect(check(file)).rejects.toMatchObject({
      code: 'invalid_input',
      message: `"${file}" was changed after it was written.`,
    });
  });
});

it('a writer reports a full disk and ends', async () => {
  const writer = new ArchiveWriter(await open('/dev/full', 'w'), head);
  await expect(writer.end()).rejects.toMatchObject({ code: 'ENOSPC' });
  await writer[Symbol.asyncDispose]();
});

it('a writer that is closed early comes to its end', async () => {
  const writer = new ArchiveWriter(await open(join(folder, 'early.backup.gz'), 'wx'), head);
  await writer[Symbol.asyncDispose]();
  await expect(check(join(folder, 'early.backup.gz'))).rejects.toMatchObject({ code: 'invalid_input' });
});

describe('encrypted', () => {
  const passphrase = new Secret('correct horse battery');
  const file = join(folder, 'secrets.backup.gz.age');
  const secrets = new Map([['encryptionKey', new Secret('a'.repeat(64))]] as const);
  beforeAll(async () => {
    const writer = new ArchiveWriter(await open(file, 'wx'), head, passphrase);
    await writer.addSecrets(secrets);
    for (const bytes of files) await writer.addFile(blobOf(bytes), inChunks(bytes));
    await writer.end();
  });
  const refused = (bytes: Uint8Array, words: string) => {
    const changed = written(bytes);
    return expect(check(changed, passphrase)).rejects.toThrow(`"${changed}" ${words}`);
  };

  it('it holds secrets, and is opened with its passphrase only', async () => {
    const found = await check(file, passphrase);
    expect(found).toMatchObject({ head, files: { count: 3, bytes: 400_005 } });
    const revealed = [...found.secrets].map(([name, secret]) => [name, secret.reveal()]);
    expect(revealed).toEqual([['encryptionKey', 'a'.repeat(64)]]);
    expect(readFileSync(file).includes('a'.repeat(8))).toBe(false);
    await expect(check(file)).rejects.toThrow(`"${file}" is encrypted with a passphrase.`);
    await expect(check(file, new Secret('wrong'))).rejects.toMatchObject({
      code: 'forbidden',
      message: `The passphrase does not open "${file}".`,
    });
  });

  it('cut or changed, it is refused by name', async () => {
    // With the usual work factor of scrypt each check would take a second.
    const encrypter = new Encrypter();
    encrypter.setPassphrase(passphrase.reveal());
    encrypter.setScryptWorkFactor(10);
    const bytes = Buffer.from(await encrypter.encrypt(readFileSync(whole)));
    expect(await check(written(bytes), passphrase)).toMatchObject({ graph, usage: 3 });
    const ends = placesIn(bytes, 20);
    for (const end of [30, 100, 180, ...ends, bytes.length - 1]) {
      await refused(bytes.subarray(0, end), 'is cut, or was changed');
    }
    for (const at of [250, ...ends, bytes.length - 1]) {
      await refused(damaged(bytes, at), 'is cut, or was changed');
    }
    await refused(Buffer.concat([bytes, bytes.subarray(0, 70_000)]), 'is cut, or was changed');
  });

  it('a header without an end is refused, before all of it is in memory', async () => {
    const beginning = Buffer.from('age-encryption.org/v1\n-> scrypt ');
    const endless = Buffer.concat([beginning, Buffer.alloc(20 * lineBytesMax, 'a')]);
    await within(10 * lineBytesMax, () => refused(endless, 'is cut, or was changed'));
  });
});

async function within(memoryBytes: number, work: () => Promise<unknown>): Promise<void> {
  const before = process.memoryUsage.rss();
  await work();
  expect(process.memoryUsage.rss() - before).toBeLessThan(memoryBytes);
}

describe('is refused by name', () => {
  const refused = (file: string, words: string) => expect(check(file)).rejects.toThrow(`"${file}" ${words}`);

  it('cut at any place', async () => {
    const bytes = readFileSync(whole);
    for (const end of [...placesIn(bytes, 40), bytes.length - 1])
      await refused(written(bytes.subarray(0, end)), 'is cut');
    for (const kept of [2, 10, lines().length - 1]) await refused(packed(lines().slice(0, kept)), 'is cut');
  });

  it('changed at any place', async () => {
    const right = lines();
    const turned = (text: string) => text.replace(/[0-9](?=[^0-9]*$)/, (digit) => String((Number(digit) + 1) % 10));
    for (const [index, line] of right.entries()) {
      // A file without its head is not an archive, and an archive without its end is cut.
      if (index > 0 && index < right.length - 1) await refused(packed(right.toSpliced(index, 1)), 'was changed');
      if (index > 0 && turned(line) !== line) await refused(packed(right.with(index, turned(line))), 'was changed');
    }
    await refused(packed([...right, '["more"]']), 'was changed');
    await refused(packed(right.with(0, (right[0] ?? '').replace('1.2.3', '1.2.4'))), 'was changed');
  });

  it('damaged at any place', async () => {
    const bytes = readFileSync(whole);
    for (const at of placesIn(bytes, 40).slice(0, -1)) {
      const refusal = { code: 'invalid_input' };
      await expect(check(written(damaged(bytes, at + 20)))).rejects.toMatchObject(refusal);
    }
  });

  it('of a newer format', async () => {
    const file = packed(lines().with(0, JSON.stringify({ ...head, format: formatVersion + 1, more: true })));
    await refused(file, `has the format ${formatVersion + 1}, and this version`);
    await expect(check(file)).rejects.toMatchObject({ code: 'unsupported' });
  });

  it('something else', async () => {
    for (const bytes of [Buffer.from('graph'), gzipSync('graph'), gzipSync('{}\n'), gzipSync('[1]\n')]) {
      await refused(written(bytes), 'is not a backup');
    }
  });

  it('made by hand, with rows that no version wrote', async () => {
    const rows = lines().slice(1, -1);
    const { rows: counts } = JSON.parse(lines().at(-1) ?? '').end;
    const signed = (some: readonly string[]) => {
      const before = [JSON.stringify(head), ...some].map((line) => `${line}\n`).join('');
      const sha256 = hash('sha256', before);
      return written(gzipSync(`${before}${JSON.stringify({ end: { rows: counts, sha256 } })}\n`));
    };
    expect(await check(signed(rows))).toMatchObject({ graph });
    const firstOf = (section: string) => rows.indexOf(JSON.stringify({ section })) + 1;
    const [skill, edge, file] = [firstOf('node.skill'), firstOf('edge.role.skills'), firstOf('files')];
    const [usage, session] = [firstOf('usage'), firstOf('sessions')];
    const later = Date.now() + hourMs;
    const [id, version, workspace, values] = JSON.parse(rows[skill] ?? '');
    const [role, target] = JSON.parse(rows[edge] ?? '');
    const hostile: readonly (readonly [number, unknown])[] = [
      [skill, ['../../etc', version, workspace, values]],
      [skill, [id, version, '../other', values]],
      [skill, [id, version, null, values]],
      [skill, [id, 0, workspace, values]],
      [skill, [id, version, workspace, { ...values, more: 1 }]],
      [skill, [id, version, workspace, { ...values, name: 7 }]],
      [skill, [id, version, workspace, { ...values, name: 'a\0b' }]],
      [skill, [id, version, workspace, JSON.parse('{"__proto__":"x"}')]],
      [edge, [role, role]],
      [edge, [target, target]],
      [file, ['../../etc/passwd', 0]],
      [file, ['0'.repeat(64), 0]],
      [usage, ['not base64!']],
      [usage, [Buffer.alloc(513 * 1024).toString('base64')]],
      [session, ['>', '', later]],
      [session, ['svc.runtime.*', '', later]],
      [session, ['a b', '', later]],
      [session, ['a..b', '', later]],
      [session, ['x'.repeat(256), '', later]],
      [session, ['a', Buffer.alloc(513 * 1024).toString('base64'), later]],
      [session, ['a', '', -1]],
      [session, ['a', '', 1e300]],
    ];
    for (const [at, row] of hostile) await refused(signed(rows.with(at, JSON.stringify(row))), 'was changed');
  });

  it('a line without an end, before all of it is in memory', async () => {
    const endless = written(gzipSync(Buffer.alloc(20 * lineBytesMax)));
    await within(20 * lineBytesMax, () => refused(endless, 'is not a backup'));
  });
});
