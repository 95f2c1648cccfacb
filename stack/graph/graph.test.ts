import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { planFor, readPlan } from '../engines/plan-of.ts';
import { versionOf } from '../machine/check-program.ts';
import { createInstallation } from '../operations/create-installation.ts';
import { dgraphConfiguration } from '../parts/dgraph.ts';
import { changesBetween, partsThatDiffer, settingsOf } from '../plan/differences.ts';
import { secretFilesOf } from '../secrets/secrets.ts';
import { checkDefinition } from '../settings/check.ts';
import { postureAt } from '../settings/dgraph.ts';
import { installationIn } from '../state/installation.ts';
import { accessToken } from './ask-dgraph.ts';
import { checkDgraphProgram, checkGraph } from './check-graph.ts';
import { keptInFiles, leftGraph, membersOf, refuseFewerNodes } from './graph-data.ts';
import { provisionGraph } from './provision-graph.ts';

let dir: string;
const servers: Server[] = [];
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'svc-graph-'));
});
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => new Promise((resolve) => server.close(resolve))));
  rmSync(dir, { recursive: true, force: true });
});

const definitionOf = (yaml: string) => checkDefinition(`id: abcdef0123456789\n${yaml}`, 'svc.yaml');
const own = definitionOf('topology: distributed\ngraph: dgraph\n');

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

  test('a coordination node closes its administration, and writes before it acknowledges', () => {
    const text = dgraphConfiguration('dgraph-zero', { ...zero, ADDRESS: '127.0.0.1:5081' });
    for (const line of [
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
    ]) {
      expect(text.split('\n')).toContain(line);
    }
  });

  test('a data node authenticates every client, and asks for the token for administration', () => {
    const node = { ADDRESS: '127.0.0.1:7081', ZERO: '127.0.0.1:5081', CACHE_MB: '64' };
    const text = dgraphConfiguration('dgraph-alpha', {
      ...values,
      ...node,
      ACL_KEY: 'secrets/graphdb-acl.key',
      ADMINS: '127.0.0.1',
    });
    for (const line of [
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
    ]) {
      expect(text.split('\n')).toContain(line);
    }
  });

  test('has no line that Dgraph would take for the head of others', () => {
    const text = dgraphConfiguration('dgraph-zero', { ...zero, ADDRESS: '127.0.0.1:1' });
    expect(text.split('\n').filter((line) => line.trim().endsWith(':'))).toEqual([]);
  });

  test('with a placeholder is invalid', () => {
    expect(() => dgraphConfiguration('dgraph-zero', zero)).toThrow('dgraph-zero.yaml has no value for ADDRESS');
  });
});

describe('our own dgraph', () => {
  const install = (version: string) => {
    writeFileSync(
      join(dir, 'dgraph'),
      `#!/bin/sh\n[ "$1" = version ] && cat <<'END'\n\n${version}\nGo version       : go1.26.8\nEND\n`,
    );
    chmodSync(join(dir, 'dgraph'), 0o755);
  };
  const says = (version: string) => install(`Dgraph version   : ${version}\nDgraph codename  :`);

  test('a missing program is refused, with the way to get it', async () => {
    await expect(checkDgraphProgram(own, dir)).rejects.toMatchObject({
      code: 'unavailable',
      message: 'graph: dgraph needs dgraph, which is not on PATH.',
      hint: expect.stringMatching(/github\.com\/dgraph-io\/dgraph, which are for Linux only/),
    });
  });

  test.each(['v25.3.8', 'v24.1.0'])('of version %s is refused', async (version) => {
    says(version);
    await expect(checkDgraphProgram(own, dir)).rejects.toMatchObject({
      code: 'unsupported',
      message: `"${dir}/dgraph" has version ${version.slice(1)}, and 25.4 or newer is needed.`,
    });
  });

  test.each([
    ['v25.4.0', '', []],
    ['v25.5.0-beta1', ' anonymous=none', []],
    ['v26.0.0', ' anonymous=none', []],
    ['dev', '', [expect.stringMatching(/was built from source and states no version, so it counts as 25\.4\.$/)]],
  ])('of version %s is taken, and told%s what it knows', async (version, posture, notices) => {
    says(version);
    expect(await checkDgraphProgram(own, dir)).toEqual(notices);
    expect(postureAt(await versionOf(join(dir, 'dgraph'), ['version']))).toBe(posture);
  });

  test('is needed for a cluster of our own only', async () => {
    for (const yaml of [
      '',
      'topology: distributed',
      'topology: distributed\ngraph: dgraph\ngraphdb: { url: "http://db:8080" }',
    ]) {
      expect(await checkDgraphProgram(definitionOf(yaml), dir)).toEqual([]);
    }
  });
});

describe('a graph that is left for another', () => {
  const sqlite = definitionOf('topology: distributed');

  test('is reported, in both directions, until the other graph is used', async () => {
    const { installation } = await createInstallation({ dir: join(dir, 'svc') });
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
  const installation = installationIn(dir);
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
  const file = join(dir, 'acl.key');
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
  const { installation } = await createInstallation({
    dir: join(dir, 'svc'),
    topology: 'distributed',
    graph: 'dgraph',
  });
  const asIs = {
    admin: [{ isRight: true }],
    user: [{ isRight: true, groups: [{ name: 'svc-data' }] }],
    group: [{ rules: [{ predicate: 'dgraph.all', permission: 7 }] }],
  };
  let told = 0;
  const server = createServer(async (request, response) => {
    const body = (await request.toArray()).join('');
    if (request.url?.startsWith('/mutate')) told++;
    const seen = told === 0 ? {} : { seen: [] };
    response.end(JSON.stringify({ data: body.includes('svc.nothing') ? seen : asIs }));
  }).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const { signal } = new AbortController();
  await provisionGraph({
    ...{ urls: [`http://127.0.0.1:${port}`], secrets: secretFilesOf(installation), timeoutMs: 30_000, signal },
  });
  expect(told).toBe(1);
});

test("a change of the graph's identity restarts every part, because a different graph has different users", async () => {
  const { installation } = await createInstallation({
    dir: join(dir, 'svc'),
    topology: 'distributed',
    graph: 'dgraph',
  });
  const { definition, ports } = readPlan(installation);
  const settings = (change: object) => settingsOf(planFor(installation, { ...definition, ...change }, ports));
  const theirs = (url: string) => settings({ graphdb: { ...definition.graphdb, url } });
  const [file, ours, one, other] = [
    settings({ graph: 'sqlite' }),
    settings({}),
    theirs('http://a'),
    theirs('http://b'),
  ];
  for (const [before, after, said] of [
    [file, ours, 'graph: sqlite → dgraph'],
    [ours, one, 'graph: dgraph → dgraph at http://a'],
    [one, other, 'graph: dgraph at http://a → dgraph at http://b'],
  ] as const) {
    expect(changesBetween(before, after)).toContain(said);
    expect(partsThatDiffer(before, after)).toBeNull();
  }
});

describe('a Dgraph that somebody else runs', () => {
  /** Answers so to each path. */
  async function answering(answers: Readonly<Record<string, unknown>>): Promise<string> {
    const server = createServer((request, response) => {
      const answer = answers[request.url ?? ''];
      response.statusCode = typeof answer === 'number' ? answer : 200;
      response.end(typeof answer === 'number' ? 'Please retry again' : JSON.stringify(answer ?? {}));
    }).listen(0, '127.0.0.1');
    servers.push(server);
    await once(server, 'listening');
    const address = server.address();
    return `http://127.0.0.1:${address !== null && typeof address === 'object' ? address.port : 0}`;
  }
  const check = async (url: string, graphdb: { readonly ca?: string; readonly user?: string } = {}) => {
    const { installation } = await createInstallation({
      dir: join(dir, 'svc'),
      topology: 'distributed',
      graph: 'dgraph',
    });
    const { definition, ports } = readPlan(installation);
    return checkGraph(
      planFor(installation, { ...definition, graphdb: { ...definition.graphdb, url, ...graphdb } }, ports),
    );
  };
  const healthy = (version: string) => [{ instance: 'alpha', version, status: 'healthy' }];
  const refused = { errors: [{ message: 'No Auth Token found.' }] };

  test('is refused where it is too old', async () => {
    await expect(check(await answering({ '/health': healthy('v25.3.8') }))).rejects.toMatchObject({
      code: 'unsupported',
      message: expect.stringMatching(/runs Dgraph 25\.3\.8, and 25\.4 or newer is needed\.$/),
    });
  });

  test('is refused where it is something else, or not healthy', async () => {
    await expect(check(await answering({}))).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(/does not answer as a Dgraph: it says something else\.$/),
      hint: expect.stringContaining('graphdb.url'),
    });
    await expect(check(await answering({ '/health': 503 }))).rejects.toThrow(/it is not healthy: Please retry again/);
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
      const url = await answering({ ...known, '/query': answer });
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
    expect(await check(await answering(open))).toEqual([
      expect.stringContaining('allows every client to change its schema'),
    ]);
    expect(await check(await answering({ ...open, '/alter': refused }))).toEqual([]);
  });
});
