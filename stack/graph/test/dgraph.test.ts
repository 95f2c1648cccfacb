import { closeSync, openSync, readdirSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { emptyDgraph, isEmptyDgraph, openGraphContent } from '../../../services/backend/graph/open-content.ts';
import { request } from '../../client/http.ts';
import { planFor } from '../../engines/plan-of.ts';
import { preparePlan } from '../../engines/prepare-plan.ts';
import { hasPort } from '../../engines/process/take-over.ts';
import { supervise } from '../../engines/process/test/trial.ts';
import { graphAdmin, graphAdminGroup, graphGroup, graphUrlsOf, graphUser } from '../../parts/dgraph.ts';
import { changesBetween, settingsOf } from '../../plan/differences.ts';
import type { Plan } from '../../plan/plan.ts';
import { newNodeKey, nodeCertificate } from '../../secrets/node-certificate.ts';
import { readSecret } from '../../secrets/secrets.ts';
import { alphaPorts, zeroPorts } from '../../settings/ports.ts';
import { findRunning } from '../../state/find-running.ts';
import { listeningOf, processesAreShown, processesOf } from '../../test/running-processes.ts';
import { SecretSearch } from '../../test/secret-search.ts';
import { accessToken, askDgraph, type Credentials } from '../ask-dgraph.ts';
import { checkGraph } from '../check-graph.ts';
import { dgraphAddressOf } from '../dgraph-address.ts';
import { provisionGraph } from '../provision-graph.ts';
import { hasDgraph, healthy, openDgraphTrial } from './dgraph-trial.ts';

/** Elections of both nodes take some seconds, on a machine that other programs use too. */
const startTimeoutMs = 60_000;
vi.setConfig({ testTimeout: startTimeoutMs, hookTimeout: startTimeoutMs });

/** The first 4 MB of a file. Dgraph's raft logs are 256 MB long, and empty after their beginning. */
function beginningOf(file: string): Buffer {
  const handle = openSync(file, 'r');
  try {
    const bytes = Buffer.alloc(4 * 1024 * 1024);
    return bytes.subarray(0, readSync(handle, bytes));
  } finally {
    closeSync(handle);
  }
}

function filesIn(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
}

/**
 * Whether the server accepts the client. A refusal arrives only after the TLS handshake, and an accepted client first
 * receives the server's HTTP/2 data.
 */
function isLetIn(
  port: number,
  ca: string,
  credentials: { readonly key?: string; readonly cert?: string },
): Promise<boolean> {
  const socket = connect({ host: '127.0.0.1', port, ca, ALPNProtocols: ['h2'], ...credentials });
  return new Promise<boolean>((resolve) => {
    socket.once('data', () => resolve(true));
    for (const end of ['error', 'close']) socket.once(end, () => resolve(false));
  }).finally(() => socket.destroy());
}

describe.skipIf(!hasDgraph)('on a real Dgraph', () => {
  let trial: Awaited<ReturnType<typeof openDgraphTrial>>;
  let supervisor: ReturnType<typeof supervise>;
  let plan: Plan;
  let url: string;
  let token: string;
  let ca: string;

  beforeAll(async () => {
    trial = await openDgraphTrial();
    ({ plan } = trial);
    [url = ''] = graphUrlsOf(plan);
    token = readSecret(plan.secrets.graphToken);
    ca = readSecret(plan.secrets.graphNodeCertificate);
    supervisor = supervise(trial);
    await Promise.race([healthy(trial, startTimeoutMs), supervisor.run]);
  });
  afterAll(async () => {
    await supervisor.stop();
    await trial[Symbol.asyncDispose]();
  });

  const ask = (path: string, body: unknown, credentials: Credentials = {}) =>
    askDgraph({ url, ca }, path, body, credentials);
  const login = (userid: string, password: string, credentials: Credentials = { token }) =>
    ask('/login', { userid, password }, credentials) as Promise<{ accessJWT: string }>;
  const asUser = async (): Promise<Credentials> => {
    const { accessJWT } = await login(graphUser, readSecret(plan.secrets.graphPassword));
    return { access: accessJWT, token };
  };
  const asAdmin = async (): Promise<Credentials> => ({
    access: await accessToken(plan.secrets.graphAclKey, { user: graphAdmin, groups: [graphAdminGroup] }),
    token,
  });
  const provision = () => {
    const { secrets } = plan;
    const { signal } = new AbortController();
    return provisionGraph({ urls: [url], caPath: secrets.graphNodeCertificate, secrets, timeoutMs: 60_000, signal });
  };
  const pidOf = (name: string) => supervisor.part(name).process?.pid ?? 0;
  const query = (text: string) => ({ query: text });
  const users = query(`{
    users(func: type(dgraph.type.User)) { uid dgraph.xid dgraph.user.group { dgraph.xid } }
    groups(func: type(dgraph.type.Group)) { uid dgraph.xid dgraph.acl.rule { uid } }
    rules(func: type(dgraph.type.Rule)) { uid dgraph.rule.predicate dgraph.rule.permission }
  }`);

  test('the coordination node comes before the data node, and that, with its users, before the backend', () => {
    const order = ['dgraph-zero healthy', 'dgraph-alpha starting', 'dgraph-alpha healthy', 'backend starting'];
    expect(supervisor.states.filter((state) => order.includes(state))).toEqual(order);
  });

  test.skipIf(!processesAreShown)('both are reached from this machine only, on the ports that were claimed', () => {
    const listening = ['dgraph-zero', 'dgraph-alpha'].flatMap((name) => listeningOf(pidOf(name)));
    const { grpc, http } = zeroPorts(plan.ports);
    const alpha = alphaPorts(plan.ports);
    expect(listening.map(({ port }) => port).sort()).toEqual(
      [grpc, http, alpha.internal, alpha.http, alpha.grpc].sort(),
    );
    expect(new Set(listening.map(({ address }) => address))).toEqual(new Set(['0100007F']));
  });

  test('looked at again, it keeps its ports, and differs in nothing', async () => {
    const { installation } = trial;
    const notices: string[] = [];
    const prepared = await preparePlan({
      installation,
      env: process.env,
      survey: {
        ownsPort: (port) => {
          const running = findRunning(installation);
          return running !== null && hasPort(running, port);
        },
        portPatienceMs: 0,
      },
      avoid: new Set(),
      onNotice: (message) => notices.push(message),
    });
    expect(changesBetween(settingsOf(plan), settingsOf(prepared))).toEqual([]);
    expect(notices.filter((message) => message.includes('Port '))).toEqual([]);
  });

  test('a client without credentials gets nothing but health', async () => {
    for (const credentials of [{}, { token }, { access: 'nonsense', token }]) {
      await expect(ask('/query', query('{ all(func: has(dgraph.type)) { uid } }'), credentials)).rejects.toThrow(
        /accessJwt|jwt/,
      );
      await expect(ask('/mutate?commitNow=true', { set: [{ 'any.thing': 'x' }] }, credentials)).rejects.toThrow(
        /accessJwt|jwt/,
      );
      await expect(ask('/alter', { drop_all: true }, credentials)).rejects.toThrow(/accessJwt|jwt|Token/);
      const admin = ask('/admin', query('{ state { counter } }'), credentials);
      await expect(admin).rejects.toThrow(/AuthToken|accessJwt|jwt/);
    }
    const { access } = await asAdmin();
    for (const [path, body] of [
      ['/alter', { schema: 'any.thing: string .' }],
      ['/admin', query('{ state { counter } }')],
    ] as const) {
      await expect(ask(path, body, access === undefined ? {} : { access })).rejects.toThrow(/AuthToken|Auth Token/);
    }
    for (const path of ['/state', '/health?all', '/admin/schema', '/admin/shutdown', '/admin/config/cache_mb']) {
      const answer = await request({ method: 'GET', url: `${url}${path}`, ca, timeoutMs: 5000 });
      expect(answer.body, path).toMatch(/accessJwt|AuthToken/);
    }
    const plain = url.replace('https:', 'http:');
    expect((await fetch(`${plain}/health`)).status).toBe(200);
    expect((await fetch(`${plain}/query`)).status).toBe(400);
  });

  test('the ports between nodes refuse a client without their key', async () => {
    const [key, stranger] = [readSecret(plan.secrets.graphNodeKey), newNodeKey()];
    const credentials = {
      nothing: {},
      another: { key: stranger, cert: nodeCertificate(stranger) },
      theirs: { key, cert: ca },
    };
    for (const port of [zeroPorts(plan.ports).grpc, alphaPorts(plan.ports).internal]) {
      expect(await isLetIn(port, ca, credentials.nothing), `${port}`).toBe(false);
      expect(await isLetIn(port, ca, credentials.another), `${port}`).toBe(false);
      expect(await isLetIn(port, ca, credentials.theirs), `${port}`).toBe(true);
      await expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow();
    }
  });

  test.each(['/state', '/assign?what=uids&num=1', '/removeNode?id=1&group=1', '/moveTablet?tablet=x&group=1'])(
    'the coordination node has no %s',
    async (path) => {
      const { http } = zeroPorts(plan.ports);
      for (const headers of [{}, { 'x-dgraph-authtoken': token }]) {
        const answer = await request({
          method: 'GET',
          url: `https://127.0.0.1:${http}${path}`,
          headers,
          ca,
          timeoutMs: 5000,
        });
        expect(answer.status).toBe(404);
      }
    },
  );

  test('the password that every Dgraph is born with is gone', async () => {
    await expect(login(graphAdmin, 'password')).rejects.toThrow(/invalid username or password/);
    await expect(login(graphAdmin, readSecret(plan.secrets.graphAdminPassword), {})).rejects.toThrow(/Token/);
    await expect(login(graphAdmin, readSecret(plan.secrets.graphAdminPassword))).resolves.toHaveProperty('accessJWT');
  });

  test('the user of the backend makes, reads and removes data and schema, and nothing else', async () => {
    const user = await asUser();
    await ask('/alter', { schema: 'trial.name: string @index(exact) @upsert @unique .' }, user);
    await ask('/mutate?commitNow=true', { set: [{ 'trial.name': 'one' }] }, user);
    expect(await ask('/query', query('{ found(func: eq(trial.name, "one")) { trial.name } }'), user)).toEqual({
      found: [{ 'trial.name': 'one' }],
    });
    expect(await ask('/query', query('{ found(func: has(dgraph.password)) { dgraph.xid } }'), user)).toEqual({});
    const raise = { set: [{ uid: '0x1', 'dgraph.user.group': [{ uid: '0x1' }] }] };
    await expect(ask('/mutate?commitNow=true', raise, user)).rejects.toThrow(/unauthorized to mutate/);
    await expect(ask('/alter', { drop_all: true }, user)).rejects.toThrow(/only guardians/);
    const cluster = ask('/admin', query('{ state { counter } }'), user);
    await expect(cluster).rejects.toThrow(/Only guardians|superadmin/);
    await ask('/alter', { drop_attr: 'trial.name' }, user);
  });

  test('the user of the backend fills a graph and empties it again', async () => {
    const address = dgraphAddressOf(plan);
    expect(await isEmptyDgraph(address)).toBe(true);
    const content = await openGraphContent({ engine: 'dgraph', ...address, readOnly: false });
    await content.finish();
    await content.close();
    expect(await isEmptyDgraph(address)).toBe(false);
    await emptyDgraph(address);
    expect(await isEmptyDgraph(address)).toBe(true);
    // This test makes two hundred schema changes, one after the other.
  }, 240_000);

  test('a second provisioning changes nothing, and repairs changes by hand', async () => {
    const before = await ask('/query', users, await asAdmin());
    await provision();
    expect(await ask('/query', users, await asAdmin())).toEqual(before);
    const byHand = {
      query: `{ admin as var(func: eq(dgraph.xid, "${graphAdmin}")) user as var(func: eq(dgraph.xid, "${graphUser}"))
        var(func: eq(dgraph.xid, "${graphGroup}")) { rule as dgraph.acl.rule } }`,
      mutations: [
        {
          set: [
            { uid: 'uid(admin)', 'dgraph.password': 'password' },
            { uid: 'uid(rule)', 'dgraph.rule.permission': 4 },
          ],
        },
        { delete: [{ uid: 'uid(user)', 'dgraph.user.group': null }] },
      ],
    };
    await ask('/mutate?commitNow=true', byHand, await asAdmin());
    await expect(login(graphAdmin, 'password')).resolves.toHaveProperty('accessJWT');
    await provision();
    await expect(login(graphAdmin, 'password')).rejects.toThrow(/invalid username or password/);
    expect(await ask('/query', users, await asAdmin())).toEqual(before);
    await ask('/alter', { schema: 'trial.again: string .' }, await asUser());
  });

  test('no secret stands in an argument, an environment, a log or a record', async () => {
    const search = new SecretSearch();
    const { graphAclKey, graphToken, graphPassword, graphAdminPassword, graphNodeKey } = plan.secrets;
    for (const file of [graphAclKey, graphToken, graphPassword, graphAdminPassword, graphNodeKey]) {
      search.seek({ name: file, value: readSecret(file) });
    }
    const { dir, logsDir, dataDir, stateDir } = trial.installation;
    const processFindings = processesOf(dir).flatMap(({ command, environment }) =>
      search.inText(command + environment, command),
    );
    const kept = filesIn(join(dataDir, 'dgraph')).flatMap((file) => search.inText(beginningOf(file), file));
    expect([...processFindings, ...search.inFolder(logsDir), ...kept]).toEqual([]);
    const holders = search.inFolder(stateDir).map(({ where }) => where);
    expect(new Set(holders)).toEqual(
      new Set(['dgraph-zero', 'dgraph-alpha'].map((name) => join(stateDir, `${name}.yaml`))),
    );
  });

  describe('that somebody else runs', () => {
    /** Checks a Dgraph as an external one: this Dgraph, or another with these settings in svc.yaml. */
    const theirs = (graphdb: Partial<Plan['definition']['graphdb']>) => {
      const { installation, definition, ports } = plan;
      const known = { url, ca: plan.secrets.graphNodeCertificate, user: graphUser, token: true, ...graphdb };
      return checkGraph(planFor(installation, { ...definition, graphdb: { ...definition.graphdb, ...known } }, ports));
    };

    test('is accepted, and the backend gets its address', async () => {
      expect(await theirs({})).toEqual([]);
    });

    test.each([
      [{ user: undefined }, 'forbidden', /.*/, "Set graphdb.user in svc.yaml to the platform's user in that Dgraph."],
      [{ user: 'nobody' }, 'forbidden', /does not let the user "nobody" in\./, ''],
      [{ token: false }, 'forbidden', /.*/, 'graphdb.token: true'],
      [{ ca: undefined }, 'unavailable', /it has a self-signed certificate/, ''],
    ])('with %j is refused', async (graphdb, code, message, hint) => {
      const refusal = { code, message: expect.stringMatching(message), hint: expect.stringContaining(hint) };
      await expect(theirs(graphdb)).rejects.toMatchObject(refusal);
    });

    test('is refused where the user has no rights, with the repair', async () => {
      const password = readSecret(plan.secrets.graphPassword);
      const mutation = {
        query:
          'mutation ($password: String!) { addUser(input: [{ name: "bare", password: $password }]) { user { name } } }',
        variables: { password },
      };
      await ask('/admin', mutation, await asAdmin());
      await expect(theirs({ user: 'bare' })).rejects.toMatchObject({
        code: 'forbidden',
        message: `${url} shows us nothing.`,
        hint: expect.stringMatching(/^Grant "bare" the rights to read, write and modify dgraph\.all there/),
      });
    });
  });
});
