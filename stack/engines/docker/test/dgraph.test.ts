import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { secretFilesOf } from '../../../secrets/secrets.ts';
import { dgraphPorts } from '../../../settings/ports.ts';
import type { Agent } from '../../../test/agent.ts';
import { canMount, SmallDisk } from '../../../test/small-disk.ts';
import { answersAt, askingWhetherAnswersAt, nobodyBeside } from './answers-at.ts';
import { haveDgraphImage } from './dgraph-image.ts';
import { DockerTrial, dockerHost } from './docker-trial.ts';

vi.setConfig({ testTimeout: 240_000, hookTimeout: 400_000 });

const nodes = ['dgraph-zero', 'dgraph-alpha'];
const parts = ['backend', 'remote-mcp', 'runtime', 'frontend', 'nats', ...nodes];
const { zero, alpha } = dgraphPorts;
/** Ports that must be unreachable from outside. */
const inner: Readonly<Record<string, readonly number[]>> = {
  nats: [4222],
  'dgraph-zero': [zero.grpc, zero.http],
  'dgraph-alpha': [alpha.internal, alpha.http, alpha.grpc],
};

describe.skipIf(!(await haveDgraphImage(dockerHost)))('Dgraph on a real Docker', () => {
  let trial: DockerTrial;
  let agent: Agent;

  beforeAll(async () => {
    trial = await DockerTrial.init({ graph: 'dgraph' });
    await trial.up();
    agent = await trial.agentWithEcho();
  });
  afterAll(() => trial?.[Symbol.asyncDispose]());

  const works = (message: string) => trial.works(agent, message);
  const asBackend = (script: string) => trial.inContainer('backend', `node -e '${script}'`);

  test('its nodes are containers beside the others, and again there is nothing to change', async () => {
    await works('hello');
    expect([...(await trial.platform.services()).keys()]).toEqual(parts);
    expect((await trial.platform.run(['up'])).stdout).toContain('Nothing to change');
    const { lines } = await trial.platform.svc('logs', 'dgraph-alpha', '-n', '1000');
    expect(lines.map(({ message }: { message: string }) => message)).toContain('ACL secret key loaded successfully.');
  });

  test.skipIf(!canMount)('a backup asks for room for what is in the volumes', async () => {
    using disk = SmallDisk.mount(join(trial.platform.installation.dir, 'small'), 1);
    const { code, stderr } = await trial.platform.run(['backup', join(disk.folder, 'refused.gz')]);
    expect([code, stderr]).toEqual([4, expect.stringMatching(/small" has 1\.0 MB left, and a backup needs up to/)]);
    expect(readdirSync(disk.folder)).toEqual([]);
  });

  test('no node is published, or reached by this machine, MCP servers or containers of others', async () => {
    expect((await trial.published()).filter(([part]) => part in inner)).toEqual([]);
    const askedBy = (part: string) => async (address: string, port: number) =>
      (await trial.inContainer(part, `node -e '${askingWhetherAnswersAt(address, port)}' && echo yes`)) === 'yes';
    await using stranger = await trial.stranger();
    const others = {
      'this machine': answersAt,
      'a runtime': askedBy('runtime'),
      'a stranger': (address: string, port: number) =>
        stranger.runs(['node', '-e', askingWhetherAnswersAt(address, port)]),
    };
    expect(await askedBy('runtime')('nats', 4222)).toBe(true);
    for (const [node, ports] of Object.entries(inner)) {
      const { Networks } = (await trial.containerOf(node).inspect()).NetworkSettings;
      const address = Object.values(Networks)[0]?.IPAddress ?? '';
      for (const port of ports) {
        // The backend reaches the nodes, but no program answers it at an unused address.
        expect([node, port, await askedBy('backend')(node, port)]).toEqual([node, port, true]);
        expect([node, port, await askedBy('backend')(nobodyBeside(address), port)]).toEqual([node, port, false]);
        for (const [who, asks] of Object.entries(others)) {
          if (node === 'nats' && who === 'a runtime') continue;
          // A network that answers for every address also answers at the unused address.
          const [answered, anyway] = await Promise.all([asks(address, port), asks(nobodyBeside(address), port)]);
          expect([who, node, port, answered]).toEqual([who, node, port, anyway]);
        }
      }
    }
  });

  test("Dgraph's default password and a missing token are refused", async () => {
    const post = (path: string, body: unknown, headers = '{}') =>
      asBackend(
        `fetch("http://dgraph-alpha:8080${path}",{method:"POST",headers:{"content-type":"application/json",...${headers}},body:JSON.stringify(${JSON.stringify(body)})}).then((a)=>a.text()).then(console.log)`,
      );
    const token =
      '{"x-dgraph-authtoken":require("fs").readFileSync(process.env.PRIVATE_GRAPHDB_TOKEN_FILE,"utf8").trim()}';
    expect(await post('/login', { userid: 'groot', password: 'password' }, token)).toContain('invalid username');
    expect(await post('/login', { userid: 'groot', password: 'password' })).toContain('Token');
    expect(await post('/query', { query: '{ q(func: has(dgraph.type)) { uid } }' })).toMatch(/accessJwt/);
    expect(await post('/alter', { drop_all: true }, token)).toMatch(/accessJwt|jwt/);
  });

  test('secrets lie in files that only their part is given, and nowhere in Docker', async () => {
    expect(await trial.secretsInDocker(trial.secretSearch())).toEqual([]);
    const own = join(trial.platform.installation.stateDir, 'containers');
    // The provisioning container is gone, and so are its files.
    expect(existsSync(join(own, 'provision-graph'))).toBe(false);
    // Proves that the search works: it finds the secrets in the files of their parts.
    const found = trial.secretSearch().inFolder(own);
    const secrets = found.map(({ secret }) => secret);
    expect(secrets).toEqual(expect.arrayContaining(['graphAclKey', 'graphToken', 'graphPassword']));
    expect(secrets).not.toContain('graphAdminPassword');
  });

  test('a part that was cut off by hand is replaced', async () => {
    const before = await trial.ids();
    await trial.docker.getNetwork(`svc-${trial.id}-graph`).disconnect({ Container: before.backend ?? '' });
    expect(await trial.up()).toContain('backend is not ready: it is replaced.');
    expect(await trial.changedSince(before)).toEqual(['backend']);
    await works('found again');
  });

  test('a password that was changed is known to Dgraph', async () => {
    writeFileSync(secretFilesOf(trial.platform.installation).graphPassword, `${'another-'.repeat(4)}\n`);
    await trial.up();
    await works('with another password');
  });

  test('another graph starts empty, and names the place of this one', async () => {
    trial.platform.edit('graph: dgraph', 'graph: sqlite');
    const output = await trial.up();
    const left = `The present data stays in the volume svc-${trial.id}-dgraph-alpha`;
    expect(output).toContain(`graph: sqlite begins empty. ${left}`);
    // The new graph does not know an identity of the old graph, so a part with such an identity would never be ready.
    expect(output).not.toContain('is not ready');
    expect(Object.keys(await trial.ids()).sort()).toEqual(parts.filter((part) => !nodes.includes(part)).sort());
    const names = async () => (await trial.platform.svc('server', 'list')).mcpServers.length;
    expect(await names()).toBe(0);
    trial.platform.edit('graph: sqlite', 'graph: dgraph');
    await trial.up();
    expect(await names()).toBe(1);
  });
});
