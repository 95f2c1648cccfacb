import { createHash, randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { request } from 'node:http';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newId, type WorkspaceId } from '../../contracts/ids.ts';
import { newKey } from '../../contracts/keys.ts';
import type { MemberRole } from '../../contracts/member-roles.ts';
import { filesOfSkillMax } from '../../contracts/workspace-limits.ts';
import { FolderBlobs } from '../files/folder-blobs.ts';
import { graceMs, removeUnused } from '../files/keep-blobs.ts';
import type { Graph } from '../graph/graph.ts';
import { startTestBackend, type TestBackend } from './start-test-backend.ts';

let backend: TestBackend;
let operator: string;
let home: Place;
beforeAll(async () => {
  backend = await startTestBackend({ SVC_MAX_FILE_SIZE_MB: '9' });
  operator = await backend.operatorToken();
  home = await newPlace('Home');
});
afterAll(() => backend.stop());

interface Place {
  readonly workspace: WorkspaceId;
  readonly skill: string;
}

async function newPlace(name: string): Promise<Place> {
  const { createWorkspace } = await backend.must(
    'mutation ($name: String!) { createWorkspace(input: { name: $name, ownerEmail: "o@localhost" }) { id } }',
    { name },
  );
  return { workspace: createWorkspace.id, skill: await newSkill(createWorkspace.id, 'forms') };
}

async function newSkill(workspace: WorkspaceId, name: string): Promise<string> {
  const { createSkill } = await backend.must(
    'mutation ($w: ID!, $name: String!) { createSkill(workspace: $w, input: { name: $name }) { id } }',
    { w: workspace, name },
  );
  return createSkill.id;
}

const sha256 = (bytes: Uint8Array | string) => createHash('sha256').update(bytes).digest('hex');

interface OfferOptions {
  readonly place?: Place;
  readonly token?: string;
  readonly path?: string;
  readonly digest?: string;
  readonly sizeBytes?: number;
}

async function offer(bytes: Uint8Array | string, { place = home, token = operator, ...input }: OfferOptions = {}) {
  const size = Buffer.byteLength(bytes);
  return await backend.ask({
    query: `mutation ($w: ID!, $s: ID!, $input: SkillFileInput!) {
      addSkillFile(workspace: $w, skill: $s, input: $input) { url expiresAt }
    }`,
    variables: {
      ...{ w: place.workspace, s: place.skill },
      input: { path: 'notes.md', digest: sha256(bytes), sizeBytes: size, ...input },
    },
    token,
  });
}

/** The address for this test: no server listens on the public port. */
function here(url: string): string {
  const { pathname, search } = new URL(url);
  return backend.url + pathname + search;
}

async function urlFor(bytes: Uint8Array | string, wanted: OfferOptions = {}): Promise<string> {
  const { data, errors } = await offer(bytes, wanted);
  if (data?.addSkillFile == null) throw new Error(JSON.stringify(errors));
  return here(data.addSkillFile.url);
}

const put = (url: string, body: Uint8Array<ArrayBuffer> | string, headers = {}) =>
  fetch(url, { method: 'PUT', body, headers });

async function add(bytes: Uint8Array<ArrayBuffer> | string, wanted: OfferOptions = {}): Promise<void> {
  const response = await put(await urlFor(bytes, wanted), bytes);
  if (response.status !== 200) throw new Error(await response.text());
}

interface ShownFile {
  readonly path: string;
  readonly digest: string;
  readonly sizeBytes: number;
  readonly url: string;
}

async function filesOf({ workspace, skill }: Place, token = operator): Promise<readonly ShownFile[]> {
  const query = `query ($w: ID!, $s: ID) { workspace(id: $w) { skill(id: $s) { files { path digest sizeBytes url } } } }`;
  const { data } = await backend.ask({ query, variables: { w: workspace, s: skill }, token });
  return data.workspace.skill.files;
}

async function addressOf(place: Place, path: string, token = operator): Promise<string> {
  const file = (await filesOf(place, token)).find((one) => one.path === path);
  return here(file?.url ?? expect.fail(`no ${path}`));
}

const blobsDir = () => join(dirname(backend.graphFile), 'blobs');
const draftsNow = () => readdir(join(blobsDir(), 'drafts'));

/** Null where the platform does not store them. */
async function storedBytes(bytes: Uint8Array): Promise<Buffer | null> {
  const digest = sha256(bytes);
  return await readFile(join(blobsDir(), digest.slice(0, 2), digest)).catch(() => null);
}

const codeOf = async (response: Response) => ((await response.json()) as { error: { code: string } }).error.code;

describe('a file of a skill', () => {
  test('is put, listed, downloaded, replaced and removed; each is an announced change of the workspace', async () => {
    const place = await newPlace('Life');
    const revision = async () => {
      const graph = await backend.withGraph((open) => open.find('workspace', place.workspace, null));
      return graph?.revision ?? 0;
    };
    const before = await revision();
    await add('# One', { place, path: 'references/one.md' });
    await add('two', { place, path: 'a two.txt' });
    expect(await filesOf(place)).toMatchObject([
      { path: 'a two.txt', digest: sha256('two'), sizeBytes: 3 },
      { path: 'references/one.md', digest: sha256('# One'), sizeBytes: 5 },
    ]);
    const got = await fetch(await addressOf(place, 'references/one.md'));
    expect(await got.text()).toBe('# One');
    await add('# Another', { place, path: 'references/one.md' });
    expect(await (await fetch(await addressOf(place, 'references/one.md'))).text()).toBe('# Another');
    expect(await revision()).toBe(before + 3);
    const remove = `mutation ($w: ID!, $s: ID!, $p: String!) { removeSkillFile(workspace: $w, skill: $s, path: $p) }`;
    const old = await addressOf(place, 'a two.txt');
    await backend.must(remove, { w: place.workspace, s: place.skill, p: 'a two.txt' });
    expect((await filesOf(place)).map(({ path }) => path)).toEqual(['references/one.md']);
    expect((await fetch(old)).status).toBe(404);
    const { workspace } = await backend.must(
      'query ($w: ID!) { workspace(id: $w) { activity { nodes { action subjectName changes } } } }',
      { w: place.workspace },
    );
    const told = workspace.activity.nodes.slice(0, 4).map(({ changes }: { changes: string }) => JSON.parse(changes));
    expect(told).toEqual([
      { 'file a two.txt': { from: sha256('two') } },
      { 'file references/one.md': { from: sha256('# One'), to: sha256('# Another') } },
      { 'file a two.txt': { to: sha256('two') } },
      { 'file references/one.md': { to: sha256('# One') } },
    ]);
  });

  test('that is put again unchanged changes nothing', async () => {
    const place = await newPlace('Twice');
    await add('same', { place });
    const [, before] = [await add('same', { place }), await filesOf(place)];
    expect(before).toHaveLength(1);
    const { workspace } = await backend.must(
      'query ($w: ID!) { workspace(id: $w) { activity { nodes { action } } } }',
      { w: place.workspace },
    );
    expect(workspace.activity.nodes).toHaveLength(3);
  });

  test('is removed with its skill', async () => {
    const place = await newPlace('Gone');
    await add('bytes', { place });
    const url = await addressOf(place, 'notes.md');
    await backend.must('mutation ($w: ID!, $s: ID!) { removeSkill(workspace: $w, id: $s) }', {
      ...{ w: place.workspace, s: place.skill },
    });
    expect((await fetch(url)).status).toBe(404);
    const left = await backend.withGraph((graph) => graph.count({ type: 'file', anchor: place.workspace, limit: 1 }));
    expect(left).toBe(0);
  });

  test('of many bytes is returned complete, and in any requested range', async () => {
    const bytes = randomBytes(3_000_001);
    await add(bytes, { path: 'large.bin' });
    const url = await addressOf(home, 'large.bin');
    const whole = await fetch(url);
    expect([whole.status, whole.headers.get('content-length')]).toEqual([200, '3000001']);
    expect(Buffer.from(await whole.arrayBuffer()).equals(bytes)).toBe(true);
    for (const [range, start, end] of [
      ['bytes=0-0', 0, 1],
      ['bytes=262143-262145', 262_143, 262_146],
      ['bytes=2999999-', 2_999_999, 3_000_001],
      ['bytes=-5', 2_999_996, 3_000_001],
      ['bytes=5-99999999', 5, 3_000_001],
    ] as const) {
      const part = await fetch(url, { headers: { range } });
      expect([part.status, part.headers.get('content-range')], range).toEqual([
        206,
        `bytes ${start}-${end - 1}/3000001`,
      ]);
      expect(Buffer.from(await part.arrayBuffer()).equals(bytes.subarray(start, end)), range).toBe(true);
    }
    for (const range of ['bytes=3000001-', 'bytes=-0', 'bytes=9999999-9999999']) {
      const none = await fetch(url, { headers: { range } });
      expect([none.status, none.headers.get('content-range')], range).toEqual([416, 'bytes */3000001']);
      expect(await codeOf(none)).toBe('invalid_input');
    }
    for (const range of ['bytes=5-2', 'bytes=a-b', 'bytes=0-1,3-4', 'lines=1-2']) {
      expect((await fetch(url, { headers: { range } })).status, range).toBe(200);
    }
    const other = await fetch(url, { headers: { range: 'bytes=0-0', 'if-range': '"another"' } });
    expect(other.status).toBe(200);
  });

  test('of no bytes is a file too', async () => {
    await add('', { path: 'empty' });
    const got = await fetch(await addressOf(home, 'empty'));
    expect([got.status, await got.text()]).toEqual([200, '']);
  });

  test.each([
    ['page.html', 'application/octet-stream'],
    ['picture.svg', 'application/octet-stream'],
    ['script.js', 'text/plain; charset=utf-8'],
    ['notes.md', 'text/markdown; charset=utf-8'],
    ['no-ending', 'application/octet-stream'],
    ['UPPER.PNG', 'image/png'],
  ])('%s is a download that no browser runs', async (path, type) => {
    await add('<script>alert(1)</script>', { path: `safe/${path}` });
    const { headers } = await fetch(await addressOf(home, `safe/${path}`));
    expect(headers.get('content-type')).toBe(type);
    expect(headers.get('content-disposition')).toBe(`attachment; filename="${path}"; filename*=UTF-8''${path}`);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('content-security-policy')).toBe("default-src 'none'; sandbox");
    expect(headers.get('cache-control')).toBe('private, no-store');
  });

  test('has the name that people gave it, encoded for a header', async () => {
    const path = 'Größe "1" (a).md';
    await add('x', { path });
    const { headers } = await fetch(await addressOf(home, path));
    expect(headers.get('content-disposition')).toBe(
      `attachment; filename="Gr__e__1___a_.md"; filename*=UTF-8''Gr%C3%B6%C3%9Fe%20%221%22%20%28a%29.md`,
    );
  });

  test.each([
    ...['', '/etc/passwd', '..', '../up', 'a/../../b', 'a//b', './a', 'a/.', 'a\\b', 'a\0b', 'a\nb', ' a', 'a /b'],
    ...['SKILL.md', 'skill.MD', 'a\u202eb', 'a\u200bb', '\ud800', 'é'.repeat(128), 'x'.repeat(256), 'a/'],
  ])('cannot be called %j', async (path) => {
    expect((await offer('x', { path })).code).toBe('invalid_input');
  });

  test('has the same name in every Unicode composition', async () => {
    const place = await newPlace('Letters');
    await add('1', { place, path: 'e\u0301.md' });
    await add('2', { place, path: '\u00e9.md' });
    expect((await filesOf(place)).map(({ path }) => path)).toEqual(['\u00e9.md']);
  });
});

describe('an upload', () => {
  test.each([
    ['of other bytes', 'abd', 400, 'invalid_input'],
    ['of too few', 'ab', 400, 'invalid_input'],
    ['of too many', 'abcd', 413, 'too_large'],
  ])('%s is refused and leaves nothing, even when another skill has the right bytes', async (_, sent, status, code) => {
    const place = await newPlace(`Wrong ${sent}`);
    await add('abc', { path: 'abc' });
    for (const headers of [{}, { 'transfer-encoding': 'chunked' }]) {
      const url = await urlFor('abc', { place });
      const [gotStatus, body] = await putRaw(url, sent, headers);
      expect([gotStatus, body.error.code]).toEqual([status, code]);
    }
    expect(await filesOf(place)).toEqual([]);
  });

  test.each([
    ['larger than SVC_MAX_FILE_SIZE_MB', { sizeBytes: 9 * 1024 * 1024 + 1 }, 'too_large'],
    ['of less than nothing', { sizeBytes: -1 }, 'invalid_input'],
    ['of an invalid digest', { digest: 'abc' }, 'invalid_input'],
    ['of a digest in capitals', { digest: 'A'.repeat(64) }, 'invalid_input'],
    ['of a digest with a path in it', { digest: `../${'a'.repeat(61)}` }, 'invalid_input'],
  ])('%s is not offered', async (_, wanted, code) => {
    expect((await offer('x', wanted)).code).toBe(code);
  });

  test('of more files than a skill may have is refused', async () => {
    const place = await newPlace('Full');
    await backend.withGraph((graph) =>
      graph.write(async (transaction) => {
        for (let number = 0; number < filesOfSkillMax; number++) {
          const id = newId('file');
          const file = { skill: place.skill, path: `${number}`, digest: sha256('x'), sizeBytes: 1, createdAt: 0 };
          await transaction.create('file', { id, workspace: place.workspace, ...file });
          await transaction.link({ from: 'file', edge: 'of' }, id, [place.skill]);
        }
      }),
    );
    expect((await offer('x', { place })).code).toBe('too_large');
    // A replacement needs no further place.
    await add('y', { place, path: '7' });
  });

  test('of more bytes than a skill may have is refused, even when two were offered before', async () => {
    const place = await newPlace('Heavy');
    const half = randomBytes(8 * 1024 * 1024);
    const [one, two, three] = [half, Buffer.from(half).fill(1, 0, 1), Buffer.from('a third')];
    const urls = [await urlFor(one, { place, path: '1' }), await urlFor(two, { place, path: '2' })];
    const third = await urlFor(three, { place, path: '3' });
    for (const [index, bytes] of [one, two].entries()) expect((await put(urls[index] ?? '', bytes)).status).toBe(200);
    const refused = await put(third, three);
    expect([refused.status, await codeOf(refused)]).toEqual([413, 'too_large']);
    expect(await storedBytes(three)).toBe(null);
    expect((await offer('x', { place, path: '4' })).code).toBe('too_large');
  });

  test('that ends before its bytes have arrived leaves no file, no draft and in time no trace', async () => {
    const place = await newPlace('Begun');
    const bytes = randomBytes(100_000);
    for (const end of ['cut off', 'ended early'] as const) {
      const sending = request(await urlFor(bytes, { place }), {
        method: 'PUT',
        headers: end === 'cut off' ? { 'content-length': bytes.length } : { 'transfer-encoding': 'chunked' },
      });
      sending.on('error', () => undefined).write(bytes.subarray(0, 60_000));
      await expect.poll(draftsNow).toHaveLength(1);
      if (end === 'cut off') sending.destroy();
      else sending.end();
      await expect.poll(draftsNow).toEqual([]);
    }
    expect(await filesOf(place)).toEqual([]);
    expect(await storedBytes(bytes)).toBe(null);
    const findBlob = (graph: Graph) => graph.findBy('blob', { digest: sha256(bytes) }, null);
    expect(await backend.withGraph(findBlob)).not.toBe(null);
    await backend.withGraph(async (graph) => {
      const blobs = await FolderBlobs.open(blobsDir());
      const { signal } = new AbortController();
      await removeUnused({ graph, blobs }, { now: Date.now() + graceMs + 1000, signal });
    });
    expect(await backend.withGraph(findBlob)).toBe(null);
  });

  test('beside 32 slow ones of one person is refused, while another person sends one', async () => {
    const place = await newPlace('Slow');
    const { token } = await backend.addMember(place.workspace, 'editor');
    const bytes = randomBytes(1000);
    const url = await urlFor(bytes, { place, token });
    const slow = Array.from({ length: 32 }, () => {
      const sending = request(url, { method: 'PUT', headers: { 'content-length': bytes.length } });
      sending.on('error', () => undefined).write(bytes.subarray(0, 1));
      return sending;
    });
    await expect.poll(draftsNow).toHaveLength(32);
    const refused = await put(url, bytes);
    expect([refused.status, await codeOf(refused)]).toEqual([429, 'rate_limited']);
    await add(bytes, { place, path: 'of-another-person.md' });
    for (const sending of slow) sending.destroy();
    await expect.poll(async () => (await put(url, bytes)).status).toBe(200);
  });

  test('from a page of another origin is refused, and from a page of the platform answered', async () => {
    const foreign = await put(await urlFor('o'), 'o', { origin: 'https://evil.example' });
    expect([foreign.status, await codeOf(foreign)]).toEqual([403, 'forbidden']);
    const own = await put(await urlFor('o'), 'o', { origin: 'http://localhost:8888' });
    expect([own.status, own.headers.get('access-control-allow-origin')]).toEqual([200, 'http://localhost:8888']);
    const preflight = await fetch(await urlFor('o'), {
      method: 'OPTIONS',
      headers: { origin: 'http://localhost:8888', 'access-control-request-method': 'PUT' },
    });
    expect(preflight.headers.get('access-control-allow-methods')).toContain('PUT');
  });
});

describe('an address', () => {
  const withTicket = (url: string, ticket: string) => `${url.split('?')[0]}?${new URLSearchParams({ ticket })}`;
  const ticketOf = (url: string) => new URL(url).searchParams.get('ticket') ?? '';

  test('that is forged or changed is refused, in any of its parts', async () => {
    await add('mine', { path: 'mine' });
    const url = await addressOf(home, 'mine');
    const [claims = '', id = '', signature = ''] = ticketOf(url).split('.');
    const changed = JSON.parse(Buffer.from(claims, 'base64url').toString());
    const forge = (more: object) =>
      `${Buffer.from(JSON.stringify({ ...changed, ...more })).toString('base64url')}.${id}.${signature}`;
    const other = signature.startsWith('A') ? 'B' : 'A';
    const wrong = [
      ...['', '.', 'x', claims, `${claims}.`, `${claims}.${id}`, `${claims}.${id}.`, `${claims}.${signature}`],
      ...[`${claims}.${id}.${other}${signature.slice(1)}`, `${claims}.00000000.${signature}`],
      ...[forge({ path: 'other' }), forge({ expiresAt: Date.now() * 2 }), forge({ does: 'upload' })],
    ];
    for (const ticket of wrong) {
      const response = await fetch(withTicket(url, ticket));
      expect([response.status, await codeOf(response)], ticket).toEqual([403, 'forbidden']);
    }
    expect((await fetch(`${url}&ticket=x`)).status).toBe(403);
    expect((await fetch(url.split('?')[0] ?? '')).status).toBe(403);
    const elsewhere = url.replace(sha256('mine'), sha256('else'));
    expect((await fetch(elsewhere)).status).toBe(403);
    expect((await fetch(url)).status).toBe(200);
  });

  test('for one operation is not valid for the other', async () => {
    await add('one', { path: 'one' });
    expect((await put(await addressOf(home, 'one'), 'one')).status).toBe(403);
    expect((await fetch(await urlFor('one', { path: 'one' }))).status).toBe(403);
  });

  test('that has expired is refused', async () => {
    await add('late', { path: 'late' });
    const [download, upload] = [await addressOf(home, 'late'), await urlFor('later')];
    const now = Date.now;
    try {
      Date.now = () => now() + 5 * 60_000 + 1;
      expect((await fetch(download)).status).toBe(403);
      expect((await put(upload, 'later')).status).toBe(403);
    } finally {
      Date.now = now;
    }
    expect((await fetch(download)).status).toBe(200);
  });

  test('belongs to a workspace: knowing a digest is not a right to the bytes', async () => {
    const other = await newPlace('Other');
    const stranger = await backend.addMember(other.workspace, 'owner');
    await add('private', { path: 'private' });
    const asked = { place: home, token: stranger.token };
    expect((await offer('private', asked)).code).toBe('not_found');
    expect((await offer('private', { ...asked, place: { ...other, skill: home.skill } })).code).toBe('not_found');
    // An offered upload for the digest does not count until the bytes arrive.
    const url = await urlFor('private', { place: other, token: stranger.token });
    expect((await put(url, 'privat0')).status).toBe(400);
    expect(await filesOf(other, stranger.token)).toEqual([]);
    const { data } = await backend.ask({
      query: 'query ($w: ID!, $s: ID) { workspace(id: $w) { skill(id: $s) { files { url } } } }',
      variables: { w: other.workspace, s: home.skill },
      token: stranger.token,
    });
    expect(data.workspace.skill).toBeNull();
  });

  test.each<[string, MemberRole, boolean]>([
    ['a viewer reads and changes nothing', 'viewer', false],
    ['an editor does both', 'editor', true],
  ])('%s', async (_, role, may) => {
    await add('rights', { path: 'rights' });
    const { token } = await backend.addMember(home.workspace, role);
    expect((await fetch(await addressOf(home, 'rights', token))).status).toBe(200);
    expect((await offer('x', { token })).code).toBe(may ? null : 'forbidden');
    const query = 'mutation ($w: ID!, $s: ID!) { removeSkillFile(workspace: $w, skill: $s, path: "rights") }';
    const { code } = await backend.ask({ query, variables: { w: home.workspace, s: home.skill }, token });
    expect(code).toBe(may ? null : 'forbidden');
  });

  test('is invalid once its holder is suspended, or the workspace', async () => {
    const place = await newPlace('Suspended');
    const member = await backend.addMember(place.workspace, 'editor');
    await add('bytes', { place, path: 'kept' });
    const download = await addressOf(place, 'kept', member.token);
    const upload = await urlFor('new', { place, token: member.token });
    const expectRefused = async () => {
      for (const response of [await fetch(download), await put(upload, 'new')]) {
        expect([response.status, await codeOf(response)]).toEqual([403, 'forbidden']);
      }
    };
    const suspend = (suspended: boolean) =>
      backend.withGraph((graph) =>
        graph.write(async (transaction) => {
          const node = await transaction.findBy('member', { user: member.user }, place.workspace);
          if (node === null) throw new Error('the member was not written');
          await transaction.update('member', node.id, { suspended }, { anchor: place.workspace });
        }),
      );
    await suspend(true);
    await expectRefused();
    await suspend(false);
    const close = 'mutation ($w: ID!, $s: Boolean) { updateWorkspace(id: $w, input: { suspended: $s }) { id } }';
    await backend.must(close, { w: place.workspace, s: true });
    await expectRefused();
    await backend.must(close, { w: place.workspace, s: false });
    expect((await put(upload, 'new')).status).toBe(200);
  });

  test('of a removed skill is not found', async () => {
    const place = await newPlace('Short');
    const upload = await urlFor('x', { place });
    await backend.must('mutation ($w: ID!, $s: ID!) { removeSkill(workspace: $w, id: $s) }', {
      ...{ w: place.workspace, s: place.skill },
    });
    expect((await put(upload, 'x')).status).toBe(404);
  });

  test('is not logged', async () => {
    await add('logged', { path: 'logged' });
    const url = await addressOf(home, 'logged');
    await fetch(url);
    await fetch(`${url}x`);
    const [claims = ''] = ticketOf(url).split('.');
    expect(backend.logged.filter((line) => line.includes(claims))).toEqual([]);
  });
});

describe('a request of remote-mcp', () => {
  let systemKey: string;
  let file: string;
  beforeAll(async () => {
    const key = newKey('system');
    systemKey = key.reveal();
    const register = 'mutation ($input: SystemKeyInput!) { registerSystemKey(input: $input) }';
    await backend.must(register, { input: { component: 'remote-mcp', key: systemKey } });
    await add('for agents', { path: 'agents.md' });
    file = await backend.withGraph(async (graph) => {
      const found = await graph.findBy('file', { skill: home.skill, path: 'agents.md' }, home.workspace);
      return found?.id ?? '';
    });
  });

  const ask = (
    workspace: string,
    id: string,
    headers: Record<string, string> = { authorization: `Bearer ${systemKey}` },
  ) => fetch(`${backend.url}/internal/files/${workspace}/${id}`, { headers });

  test('returns a file of the workspace, and ranges of it', async () => {
    expect(await (await ask(home.workspace, file)).text()).toBe('for agents');
    const part = await ask(home.workspace, file, { authorization: `Bearer ${systemKey}`, range: 'bytes=4-' });
    expect([part.status, await part.text()]).toEqual([206, 'agents']);
  });

  test('never returns a file of another workspace, nor anything else', async () => {
    const other = await newPlace('Elsewhere');
    for (const [workspace, id] of [
      [other.workspace, file],
      [home.workspace, newId('file')],
      [home.workspace, sha256('for agents')],
      ['x', file],
    ]) {
      expect((await ask(workspace ?? '', id ?? '')).status).toBe(404);
    }
  });

  test('needs the key of a remote-mcp', async () => {
    const cloud = newKey('system');
    const register = 'mutation ($input: SystemKeyInput!) { registerSystemKey(input: $input) }';
    const input = { component: 'runtime', key: cloud.reveal(), runtimeNames: ['cloud'] };
    await backend.must(register, { input });
    for (const [authorization, status] of [
      ['', 401],
      [`Bearer ${operator}`, 401],
      [`Bearer ${newKey('system').reveal()}`, 401],
      [`Bearer ${cloud.reveal()}`, 403],
    ] as const) {
      expect((await ask(home.workspace, file, { authorization })).status, `${status}`).toBe(status);
    }
  });
});

/** Requests that fetch cannot send: chunked, or with another length than announced. */
function putRaw(
  url: string,
  body: string,
  headers: Record<string, string>,
): Promise<[number, { error: { code: string } }]> {
  return new Promise((resolve, reject) => {
    const length = 'transfer-encoding' in headers ? {} : { 'content-length': Buffer.byteLength(body) };
    const asking = request(url, { method: 'PUT', headers: { ...headers, ...length } }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.on('end', () => resolve([response.statusCode ?? 0, JSON.parse(text)]));
    });
    asking.on('error', reject).end(body);
  });
}
