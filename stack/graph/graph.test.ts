import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { jwtVerify } from 'jose';
import { describe, expect, test } from 'vitest';
import { planFor, readPlan } from '../engines/plan-of.ts';
import { createInstallation } from '../operations/create-installation.ts';
import { dgraphConfiguration } from '../parts/dgraph.ts';
import { changesBetween, partsThatDiffer, settingsOf } from '../plan/differences.ts';
import { secretFilesOf } from '../secrets/secrets.ts';
import type { Definition } from '../settings/definition.ts';
import { usualPorts } from '../settings/ports.ts';
import { definitionOf } from '../settings/test/definition-of.ts';
import { type Installation, installationIn } from '../state/installation.ts';
import { answering } from '../test/answering.ts';
import { folderOfEachTest } from '../test/folder-of-each-test.ts';
import { accessToken } from './ask-dgraph.ts';
import { checkGraph } from './check-graph.ts';
import { type KeptBy, leftGraph, membersOf, refuseFewerNodes } from './graph-data.ts';
import { provisionGraph } from './provision-graph.ts';

const dir = folderOfEachTest();

const clusterOf = (replicas: string) =>
  definitionOf(`topology: distributed\ngraph: dgraph\nreplicas: { ${replicas} }\n`);
const own = clusterOf('dgraph-alpha: 1');

async function withDgraph(): Promise<Installation> {
  const options = { dir: join(dir(), 'svc'), topology: 'distributed', graph: 'dgraph' } as const;
  return (await createInstallation(options)).installation;
}

describe('the configuration of a node', () => {
  const values = {
    BIND_ALL: 'false',
    ADDRESS: '127.0.0.1:5081',
    PORT_OFFSET: '1',
    DATA: 'data/dgraph/node',
    TOKEN: 'the-token',
    ANONYMOUS: ' anonymous=none',
    CERTIFICATES: ' internal-port=true;',
    ...{ NODE: '2', PEER: '127.0.0.1:5080' },
    ...{ ZERO: '127.0.0.1:5080', CACHE_MB: '64', ACL_KEY: 'secrets/graphdb-acl.key', ADMINS: '127.0.0.1' },
  };
  const ofBoth = [
    'bindall: false',
    'my: "127.0.0.1:5081"',
    'port_offset: 1',
    'survive: "filesystem"',
    'tls: "use-system-ca=false; internal-port=true;"',
    'telemetry: "reports=false; sentry=false"',
  ];

  test.each([
    [
      'dgraph-zero',
      [
        'wal: "data/dgraph/node"',
        'raft: "idx=2"',
        'peer: "127.0.0.1:5080"',
        'replicas: 3',
        'limit: "disable-admin-http=true"',
        'security: "token=the-token"',
      ],
    ],
    [
      'dgraph-alpha',
      [
        'zero: "127.0.0.1:5080"',
        'postings: "data/dgraph/node/p"',
        'wal: "data/dgraph/node/w"',
        'acl: "secret-file=secrets/graphdb-acl.key"',
        'security: "token=the-token; whitelist=127.0.0.1; anonymous=none"',
        'cache: "size-mb=64"',
      ],
    ],
  ] as const)('%s authenticates its clients, and writes before it acknowledges', (service, lines) => {
    const written = dgraphConfiguration(service, values).split('\n');
    expect(written).toEqual(expect.arrayContaining([...ofBoth, ...lines]));
    // Dgraph would read a line that ends with a colon as the head of the lines below it.
    expect(written.filter((line) => line.trim().endsWith(':'))).toEqual([]);
  });

  test('with a placeholder is invalid', () => {
    const { ADDRESS: _, ...others } = values;
    expect(() => dgraphConfiguration('dgraph-zero', others)).toThrow('dgraph-zero.yaml has no value for ADDRESS');
  });
});

const withData =
  (...parts: readonly string[]): KeptBy =>
  (part) => ({ place: `place of ${part}`, isThere: parts.includes(part) });

test('a graph that is left for another is reported, in both directions, until the other graph is used', () => {
  const sqlite = definitionOf('topology: distributed');
  const left = (definition: Definition, ...parts: readonly string[]) => leftGraph(definition, withData(...parts));
  expect([...left(sqlite), ...left(own), ...left(sqlite, 'backend'), ...left(own, 'backend', 'dgraph-alpha')]).toEqual(
    [],
  );
  expect(left(own, 'backend')).toEqual([
    'graph: dgraph begins empty. The present data stays in place of backend: graph: sqlite in svc.yaml goes back to it, and svc move --graph dgraph then carries it over.',
  ]);
  expect(left(sqlite, 'dgraph-alpha')).toEqual([expect.stringContaining('stays in place of dgraph-alpha')]);
});

test('coordination nodes keep their ports once several of them have data', () => {
  const members = (...nodes: readonly string[]) => [...membersOf(clusterOf('dgraph-zero: 3'), withData(...nodes))];
  expect(members()).toEqual([]);
  expect(members('dgraph-zero', 'dgraph-alpha')).toEqual([]);
  expect(members('dgraph-zero', 'dgraph-zero-3')).toEqual(['dgraph-zero', 'dgraph-zero-3']);
});

test('nodes of our own dgraph become more, and not fewer', () => {
  const refuse = (replicas: string, ...nodes: readonly string[]) =>
    refuseFewerNodes(withData(...nodes), clusterOf(replicas));
  refuse('dgraph-zero: 3, dgraph-alpha: 2', 'dgraph-zero', 'dgraph-alpha', 'dgraph-alpha-2');
  expect(() => refuse('dgraph-alpha: 1', 'dgraph-zero', 'dgraph-alpha', 'dgraph-alpha-2')).toThrow(
    'replicas.dgraph-alpha is 1, and place of dgraph-alpha-2 exists: nodes of Dgraph can be added, not removed.',
  );
  // A gap hides no node: dgraph-zero-2 has lost its data, and dgraph-zero-3 is still found.
  expect(() => refuse('dgraph-alpha: 2', 'dgraph-zero', 'dgraph-zero-3')).toThrow(
    'replicas.dgraph-zero is 1, and place of dgraph-zero-3 exists',
  );
});

test('an access token is signed with the key in the file, and short-lived', async () => {
  const file = join(dir(), 'acl.key');
  writeFileSync(file, 'the key\n');
  const token = await accessToken(file, { user: 'u', groups: ['g'] });
  const { payload, protectedHeader } = await jwtVerify(token, Buffer.from('the key\n'));
  expect(protectedHeader).toEqual({ alg: 'HS256', typ: 'JWT' });
  const { exp = 0, ...claims } = payload;
  expect(claims).toEqual({ userid: 'u', groups: ['g'], namespace: 0 });
  expect(exp * 1000 - Date.now()).toBeLessThanOrEqual(300_000);
});

test('rights that a node missed are sent again until they are in force', async () => {
  const installation = await withDgraph();
  const asIs = {
    admin: [{ isRight: true }],
    user: [{ isRight: true, groups: [{ name: 'svc-data' }] }],
    group: [{ rules: [{ predicate: 'dgraph.all', permission: 7 }] }],
  };
  let mutationCount = 0;
  const url = await answering(async (request, response) => {
    const body = (await request.toArray()).join('');
    if (request.url?.startsWith('/mutate')) mutationCount++;
    const seen = mutationCount === 0 ? {} : { seen: [] };
    response.end(JSON.stringify({ data: body.includes('svc.nothing') ? seen : asIs }));
  });
  const { signal } = new AbortController();
  await provisionGraph({ urls: [url], secrets: secretFilesOf(installation), timeoutMs: 30_000, signal });
  expect(mutationCount).toBe(1);
});

test("a change of the graph's identity restarts every part, because a different graph has different users", async () => {
  const installation = await withDgraph();
  const { definition, ports } = readPlan(installation);
  const settings = (change: object) => settingsOf(planFor(installation, { ...definition, ...change }, ports));
  const theirs = (url: string) => settings({ graphdb: { ...definition.graphdb, url } });
  for (const [before, after, change] of [
    [settings({ graph: 'sqlite' }), settings({}), 'graph: sqlite → dgraph'],
    [settings({}), theirs('http://a'), 'graph: dgraph → dgraph at http://a'],
    [theirs('http://a'), theirs('http://b'), 'graph: dgraph at http://a → dgraph at http://b'],
  ] as const) {
    expect(changesBetween(before, after)).toContain(change);
    expect(partsThatDiffer(before, after)).toBeNull();
  }
});

type Answers = Readonly<Record<string, unknown>>;
type GraphSettings = Partial<Definition['graphdb']>;

/** Starts an external Dgraph, with this answer to each path. */
const dgraphThat = (answers: Answers) =>
  answering((request, response) => {
    const answer = answers[request.url ?? ''];
    response.statusCode = typeof answer === 'number' ? answer : 200;
    response.end(typeof answer === 'number' ? 'Please retry again' : JSON.stringify(answer ?? {}));
  });

function check(url: string, graphdb: GraphSettings = {}) {
  const installation = installationIn(dir());
  mkdirSync(installation.secretsDir);
  writeFileSync(secretFilesOf(installation).graphPassword, 'the-password');
  const theirs = { ...own, graphdb: { ...own.graphdb, url, ...graphdb } };
  return checkGraph(planFor(installation, theirs, usualPorts));
}

const healthy = (version: string) => ({ '/health': [{ instance: 'alpha', version, status: 'healthy' }] });
const refused = { errors: [{ message: 'No Auth Token found.' }] };
const known = { ...healthy('v25.4.0'), '/login': { data: { accessJWT: 'access' } } };
const denied = { ...known, '/query': refused };
const blind = { ...known, '/query': { data: {} } };
const nowhere = 'http://127.0.0.1:1';
const ours = { user: 'ours' };
const granted = /^Grant "ours" the rights to read, write and modify dgraph\.all there/;
const named = /^Set graphdb\.user in svc\.yaml to the platform's user in that Dgraph\.$/;

test.each<
  readonly [answers: Answers | string, graphdb: GraphSettings, code: string, message: RegExp, hint: RegExp | null]
>([
  [healthy('v25.3.8'), {}, 'unsupported', /runs Dgraph 25\.3\.8, and 25\.4 or newer is needed\.$/, null],
  [{}, {}, 'unavailable', /does not answer as a Dgraph: it says something else\.$/, /graphdb\.url/],
  [{ '/health': 503 }, {}, 'unavailable', /it is not healthy: Please retry again/, null],
  [nowhere, {}, 'unavailable', /does not answer as a Dgraph: .*connection refused/, null],
  [nowhere, { ca: 'gone.pem' }, 'invalid_input', /graphdb\.ca cannot be used: .*gone\.pem/, null],
  [denied, ours, 'forbidden', / does not answer us\. .*No Auth Token found\.$/, granted],
  [denied, {}, 'forbidden', / does not answer us\. .*No Auth Token found\.$/, named],
  [blind, ours, 'forbidden', / shows us nothing\.$/, granted],
  [blind, {}, 'forbidden', / shows us nothing\.$/, named],
])('a Dgraph that somebody else runs is refused: %j with %j', async (answers, graphdb, code, message, hint) => {
  const url = typeof answers === 'string' ? answers : await dgraphThat(answers);
  await expect(check(url, graphdb)).rejects.toMatchObject({
    ...{ code, message: expect.stringMatching(message) },
    ...(hint && { hint: expect.stringMatching(hint) }),
  });
});

test.each([
  [{ data: { code: 'Success' } }, [expect.stringContaining('allows every client to change its schema')]],
  [refused, []],
])('a Dgraph without users is accepted, with a warning if everybody may change it: %j', async (altered, warnings) => {
  const open = { ...healthy('dev'), '/query': { data: { seen: [] } }, '/alter': altered };
  expect(await check(await dgraphThat(open))).toEqual(warnings);
});
