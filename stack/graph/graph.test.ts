import { createHmac } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { planFor, readPlan } from '../engines/plan-of.ts';
import { createInstallation } from '../operations/create-installation.ts';
import { dgraphConfiguration } from '../parts/dgraph.ts';
import { changesBetween, partsThatDiffer, settingsOf } from '../plan/differences.ts';
import { secretFilesOf } from '../secrets/secrets.ts';
import { definitionOf } from '../settings/test/definition-of.ts';
import { type Installation, installationIn } from '../state/installation.ts';
import { answering } from '../test/answering.ts';
import { folderOfEachTest } from '../test/folder-of-each-test.ts';
import { accessToken } from './ask-dgraph.ts';
import { checkGraph } from './check-graph.ts';
import { keptInFiles, leftGraph, membersOf, refuseFewerNodes } from './graph-data.ts';
import { provisionGraph } from './provision-graph.ts';

const dir = folderOfEachTest();

const own = definitionOf('topology: distributed\ngraph: dgraph\n');

async function withDgraph(): Promise<Installation> {
  const options = { dir: join(dir(), 'svc'), topology: 'distributed', graph: 'dgraph' } as const;
  return (await createInstallation(options)).installation;
}

describe('the configuration of a node', () => {
  const values = {
    BIND_ALL: 'false',
    PORT_OFFSET: '1',
    DATA: 'data/dgraph/zero',
    TOKEN: 'the-token',
    ANONYMOUS: ' anonymous=none',
    CERTIFICATES: ' internal-port=true;',
  };
  const zero = { ...values, NODE: '2', PEER: '127.0.0.1:5080' };
  const expectLines = (text: string, lines: readonly string[]) =>
    expect(text.split('\n')).toEqual(expect.arrayContaining([...lines]));

  test('a coordination node closes its administration, and writes before it acknowledges', () => {
    const text = dgraphConfiguration('dgraph-zero', { ...zero, ADDRESS: '127.0.0.1:5081' });
    expectLines(text, [
      'bindall: false',
      'my: "127.0.0.1:5081"',
      'port_offset: 1',
      'wal: "data/dgraph/zero"',
      'raft: "idx=2"',
      'peer: "127.0.0.1:5080"',
      'replicas: 3',
      'survive: "filesystem"',
      'limit: "disable-admin-http=true"',
      'security: "token=the-token"',
      'tls: "use-system-ca=false; internal-port=true;"',
      'telemetry: "reports=false; sentry=false"',
    ]);
  });

  test('a data node authenticates every client, and asks for the token for administration', () => {
    const node = { ...values, ADDRESS: '127.0.0.1:7081', ZERO: '127.0.0.1:5081', CACHE_MB: '64' };
    const access = { ACL_KEY: 'secrets/graphdb-acl.key', ADMINS: '127.0.0.1' };
    const text = dgraphConfiguration('dgraph-alpha', { ...node, ...access });
    expectLines(text, [
      'bindall: false',
      'my: "127.0.0.1:7081"',
      'zero: "127.0.0.1:5081"',
      'postings: "data/dgraph/zero/p"',
      'wal: "data/dgraph/zero/w"',
      'survive: "filesystem"',
      'acl: "secret-file=secrets/graphdb-acl.key"',
      'security: "token=the-token; whitelist=127.0.0.1; anonymous=none"',
      'tls: "use-system-ca=false; internal-port=true;"',
      'cache: "size-mb=64"',
      'telemetry: "reports=false; sentry=false"',
    ]);
  });

  test('has no line that Dgraph would take for the head of others', () => {
    const text = dgraphConfiguration('dgraph-zero', { ...zero, ADDRESS: '127.0.0.1:1' });
    expect(text.split('\n').filter((line) => line.trim().endsWith(':'))).toEqual([]);
  });

  test('with a placeholder is invalid', () => {
    expect(() => dgraphConfiguration('dgraph-zero', zero)).toThrow('dgraph-zero.yaml has no value for ADDRESS');
  });
});

test('a graph that is left for another is reported, in both directions, until the other graph is used', async () => {
  const sqlite = definitionOf('topology: distributed');
  const { installation } = await createInstallation({ dir: join(dir(), 'svc') });
  const left = (definition: typeof own) => leftGraph(definition, keptInFiles(installation));
  expect([...left(sqlite), ...left(own)]).toEqual([]);
  writeFileSync(join(installation.dataDir, 'graph.sqlite'), '');
  expect(left(sqlite)).toEqual([]);
  expect(left(own)).toEqual([
    'graph: dgraph begins empty. What is there already stays in data/graph.sqlite: graph: sqlite in svc.yaml goes back to it, and svc move --graph dgraph then brings it along.',
  ]);
  mkdirSync(join(installation.dataDir, 'dgraph/alpha'), { recursive: true });
  expect(left(own)).toEqual([]);
  rmSync(join(installation.dataDir, 'graph.sqlite'));
  expect(left(sqlite)).toEqual([expect.stringContaining('data/dgraph')]);
});

test('coordination nodes keep their ports once several of them have data', () => {
  const three = definitionOf('topology: distributed\ngraph: dgraph\nreplicas: { dgraph-zero: 3 }\n');
  const keeping = (nodes: readonly string[]) =>
    membersOf(three, (part) => ({ place: part, isThere: nodes.includes(part) }));
  expect(keeping([])).toEqual(new Set());
  expect(keeping(['dgraph-zero', 'dgraph-alpha'])).toEqual(new Set());
  expect(keeping(['dgraph-zero', 'dgraph-zero-3'])).toEqual(new Set(['dgraph-zero', 'dgraph-zero-3']));
});

test('nodes of our own dgraph become more, and not fewer', () => {
  const installation = installationIn(dir());
  const nodes = (replicas: string) =>
    refuseFewerNodes(
      keptInFiles(installation),
      definitionOf(`topology: distributed\ngraph: dgraph\nreplicas: { ${replicas} }\n`),
    );
  for (const node of ['alpha', 'zero']) mkdirSync(join(installation.dataDir, 'dgraph', node), { recursive: true });
  nodes('dgraph-alpha: 1');
  nodes('dgraph-zero: 3, dgraph-alpha: 2');
  mkdirSync(join(installation.dataDir, 'dgraph', 'alpha-2'));
  expect(() => nodes('dgraph-alpha: 1')).toThrow(
    'replicas.dgraph-alpha is 1, and data/dgraph/alpha-2 exists: nodes of Dgraph can be added, not removed.',
  );
  nodes('dgraph-alpha: 2');
  nodes('dgraph-alpha: 3');
  // A node whose data was lost is missed all the same.
  mkdirSync(join(installation.dataDir, 'dgraph', 'zero-3'));
  expect(() => nodes('dgraph-alpha: 2')).toThrow('replicas.dgraph-zero is 1, and data/dgraph/zero-3 exists');
});

test('an access token is signed with the key in the file, and short-lived', () => {
  const file = join(dir(), 'acl.key');
  writeFileSync(file, 'the key\n');
  const [head = '', body = '', signature] = accessToken(file, { user: 'u', groups: ['g'] }).split('.');
  const read = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString());
  expect(read(head)).toEqual({ alg: 'HS256', typ: 'JWT' });
  const { exp, ...claims } = read(body);
  expect(claims).toEqual({ userid: 'u', groups: ['g'], namespace: 0 });
  expect(exp * 1000 - Date.now()).toBeLessThanOrEqual(300_000);
  expect(signature).toBe(createHmac('sha256', 'the key\n').update(`${head}.${body}`).digest('base64url'));
});

test('rights that a node missed are sent again until they are in force', async () => {
  const installation = await withDgraph();
  const asIs = {
    admin: [{ isRight: true }],
    user: [{ isRight: true, groups: [{ name: 'svc-data' }] }],
    group: [{ rules: [{ predicate: 'dgraph.all', permission: 7 }] }],
  };
  let told = 0;
  const url = await answering(async (request, response) => {
    const body = (await request.toArray()).join('');
    if (request.url?.startsWith('/mutate')) told++;
    const seen = told === 0 ? {} : { seen: [] };
    response.end(JSON.stringify({ data: body.includes('svc.nothing') ? seen : asIs }));
  });
  const { signal } = new AbortController();
  await provisionGraph({ urls: [url], secrets: secretFilesOf(installation), timeoutMs: 30_000, signal });
  expect(told).toBe(1);
});

test("a change of the graph's identity restarts every part, because a different graph has different users", async () => {
  const installation = await withDgraph();
  const { definition, ports } = readPlan(installation);
  const settings = (change: object) => settingsOf(planFor(installation, { ...definition, ...change }, ports));
  const theirs = (url: string) => settings({ graphdb: { ...definition.graphdb, url } });
  for (const [before, after, said] of [
    [settings({ graph: 'sqlite' }), settings({}), 'graph: sqlite → dgraph'],
    [settings({}), theirs('http://a'), 'graph: dgraph → dgraph at http://a'],
    [theirs('http://a'), theirs('http://b'), 'graph: dgraph at http://a → dgraph at http://b'],
  ] as const) {
    expect(changesBetween(before, after)).toContain(said);
    expect(partsThatDiffer(before, after)).toBeNull();
  }
});

describe('a Dgraph that somebody else runs', () => {
  /** A Dgraph with this answer to each path. */
  const dgraphThat = (answers: Readonly<Record<string, unknown>>) =>
    answering((request, response) => {
      const answer = answers[request.url ?? ''];
      response.statusCode = typeof answer === 'number' ? answer : 200;
      response.end(typeof answer === 'number' ? 'Please retry again' : JSON.stringify(answer ?? {}));
    });
  const check = async (url: string, graphdb: { readonly ca?: string; readonly user?: string } = {}) => {
    const installation = await withDgraph();
    const { definition, ports } = readPlan(installation);
    const theirs = { ...definition, graphdb: { ...definition.graphdb, url, ...graphdb } };
    return checkGraph(planFor(installation, theirs, ports));
  };
  const healthy = (version: string) => [{ instance: 'alpha', version, status: 'healthy' }];
  const refused = { errors: [{ message: 'No Auth Token found.' }] };

  test('is refused where it is too old', async () => {
    await expect(check(await dgraphThat({ '/health': healthy('v25.3.8') }))).rejects.toMatchObject({
      code: 'unsupported',
      message: expect.stringMatching(/runs Dgraph 25\.3\.8, and 25\.4 or newer is needed\.$/),
    });
  });

  test('is refused where it is something else, or not healthy', async () => {
    await expect(check(await dgraphThat({}))).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(/does not answer as a Dgraph: it says something else\.$/),
      hint: expect.stringContaining('graphdb.url'),
    });
    await expect(check(await dgraphThat({ '/health': 503 }))).rejects.toThrow(/it is not healthy: Please retry again/);
    await expect(check('http://127.0.0.1:1')).rejects.toThrow(/does not answer as a Dgraph: .*connection refused/);
  });

  test('is refused where a file that vouches for it is missing', async () => {
    await expect(check('https://127.0.0.1:1', { ca: 'gone.pem' })).rejects.toThrow(
      /graphdb\.ca cannot be used: .*gone\.pem/,
    );
  });

  test('is refused where it denies access, with the repair', async () => {
    const known = { '/health': healthy('v25.4.0'), '/login': { data: { accessJWT: 'access' } } };
    for (const [answer, said] of [
      [refused, / does not answer us\. .*No Auth Token found\.$/],
      [{ data: {} }, / shows us nothing\.$/],
    ] as const) {
      const url = await dgraphThat({ ...known, '/query': answer });
      const forbidden = { code: 'forbidden', message: expect.stringMatching(said) };
      await expect(check(url, { user: 'ours' })).rejects.toMatchObject({
        ...forbidden,
        hint: expect.stringMatching(/^Grant "ours" the rights to read, write and modify dgraph\.all there/),
      });
      await expect(check(url)).rejects.toMatchObject({
        ...forbidden,
        hint: "Set graphdb.user in svc.yaml to the platform's user in that Dgraph.",
      });
    }
  });

  test('without users is accepted, with a warning if everybody may change it', async () => {
    const open = {
      '/health': healthy('dev'),
      '/query': { data: { seen: [] } },
      '/alter': { data: { code: 'Success' } },
    };
    expect(await check(await dgraphThat(open))).toEqual([
      expect.stringContaining('allows every client to change its schema'),
    ]);
    expect(await check(await dgraphThat({ ...open, '/alter': refused }))).toEqual([]);
  });
});
