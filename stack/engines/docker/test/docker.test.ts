import { once } from 'node:events';
import { readdirSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Agent } from '../../../test/agent.ts';
import { readPlan } from '../../plan-of.ts';
import { answersAt, askingWhetherAnswersAt, nobodyBeside } from './answers-at.ts';
import { DockerTrial, dockerHost } from './docker-trial.ts';

vi.setConfig({ testTimeout: 240_000, hookTimeout: 400_000 });

const parts = ['backend', 'remote-mcp', 'runtime', 'frontend', 'nats'];

/** The maximum size of the service image, and the maximum memory of an idle platform without NATS. */
const imageMaxBytes = 250e6;
const memoryMaxBytes = 350e6;

describe.skipIf(dockerHost === null)('on a real Docker', () => {
  let trial: DockerTrial;
  let agent: Agent;
  let key = '';

  beforeAll(async () => {
    trial = await DockerTrial.init();
    await trial.up();
    key = await trial.platform.addKey('agent');
    agent = await trial.agentWithEcho(key);
  });
  afterAll(() => trial?.[Symbol.asyncDispose]());

  const works = (said: string) => trial.works(agent, said);

  test('each part is a container, and status and logs show it', async () => {
    const status = await trial.platform.svc('status');
    expect(status).toMatchObject({ state: 'running', topology: 'distributed', engine: 'docker' });
    expect(status.services.map(({ name }: { name: string }) => name)).toEqual(parts);
    for (const service of status.services) {
      const container = `svc-${trial.id}-${service.name}`;
      expect(service).toMatchObject({ state: 'healthy', health: 'green', container, restarts: 0, ends: [] });
      expect(service).not.toHaveProperty('pid');
      expect(service.memoryBytes).toBeGreaterThan(1e6);
    }
    const { lines } = await trial.platform.svc('logs', '-n', '1000');
    expect(new Set(lines.map(({ service }: { service: string }) => service))).toEqual(new Set(parts));
    await works('hello');
    const tested = await trial.platform.run(['keys', 'test', '--json'], { env: { SVC_API_KEY: key } });
    expect(JSON.parse(tested.stdout).ok).toBe(true);
  });

  test('the image is small, and so is the platform at rest', async () => {
    const { backend } = Object.fromEntries(await trial.inspect());
    expect((await trial.docker.getImage(backend?.Image ?? '').inspect()).Size).toBeLessThanOrEqual(imageMaxBytes);
    const { services } = await trial.platform.svc('status');
    const ours = services.filter(({ name }: { name: string }) => name !== 'nats');
    const taken = ours.reduce((sum: number, { memoryBytes }: { memoryBytes: number }) => sum + memoryBytes, 0);
    expect(taken).toBeLessThanOrEqual(memoryMaxBytes);
  });

  test('only published ports answer, on loopback only', async () => {
    const inspected = await trial.inspect();
    const published = [...inspected.values()].flatMap(({ NetworkSettings }) => Object.entries(NetworkSettings.Ports));
    const bindings = published.flatMap(([inside, at]) =>
      (at ?? []).map(({ HostIp, HostPort }) => [inside, HostIp, Number(HostPort)]),
    );
    const { ports } = trial.platform;
    expect(bindings.sort()).toEqual([
      ['3000/tcp', '127.0.0.1', ports.backend],
      ['3001/tcp', '127.0.0.1', ports['remote-mcp']],
      ['8888/tcp', '127.0.0.1', ports.frontend],
    ]);
    for (const port of [ports.runtime, trial.platform.busPorts.port, trial.platform.busPorts.httpPort]) {
      expect(await answersAt('127.0.0.1', port)).toBe(false);
    }
    expect(await answersAt('127.0.0.1', ports.backend)).toBe(true);
    // This machine has no address in the network of NATS.
    const [{ IPAddress: nats = '' } = {}] = Object.values(inspected.get('nats')?.NetworkSettings.Networks ?? {});
    const asking = `node -e '${askingWhetherAnswersAt(nats, 4222)}' && echo yes`;
    expect(await trial.inContainer('runtime', asking)).toBe('yes');
    for (const port of [4222, 8222]) {
      expect([port, await answersAt(nats, port)]).toEqual([port, await answersAt(nobodyBeside(nats), port)]);
    }
  });

  test('no container runs as root, can change its program or has a privilege', async () => {
    for (const [part, { Config, HostConfig }] of await trial.inspect()) {
      expect(Config.User, part).toMatch(/^[1-9]\d*:\d+$/);
      const closed = { ReadonlyRootfs: true, CapDrop: ['ALL'], SecurityOpt: ['no-new-privileges'] };
      expect(HostConfig, part).toMatchObject(closed);
      const said = await trial.inContainer(part, 'cat /proc/self/status; : > /svc-was-here');
      expect(said).toMatch(/CapEff:\s0{16}\nCapBnd:\s0{16}\nCapAmb:\s0{16}\nNoNewPrivs:\s1\n/);
      expect(said).toMatch(/Read-only file system/i);
    }
  });

  test('secrets lie in files that only their part is given, and nowhere in Docker', async () => {
    const search = trial.secretSearch();
    search.seek({ name: 'a key', value: key });
    expect(await trial.secretsInDocker(search)).toEqual([]);
    const inspected = await trial.inspect();
    // Proves that the search finds the secrets where they belong.
    const own = join(trial.platform.installation.stateDir, 'containers');
    expect(search.inFolder(own).map(({ secret }) => secret)).toContain('encryptionKey');
    expect(readdirSync(join(own, 'runtime'))).toEqual(['system-runtime.key']);
    const { mode, uid } = statSync(join(own, 'backend/encryption.key'));
    const user = inspected.get('backend')?.Config.User.split(':')[0];
    expect([mode & 0o777, String(uid)]).toEqual([0o400, user]);
    expect(await trial.inContainer('runtime', 'ls /run/svc; ls /run/secrets 2>&1')).not.toContain('encryption');
  });

  test('a stopped or removed part is replaced, and a foreign container with its name is refused', async () => {
    const before = await trial.ids();
    await trial.containerOf('remote-mcp').stop();
    expect((await trial.platform.svc('status')).state).toBe('degraded');
    expect(await trial.up()).toContain('remote-mcp was stopped: it is replaced.');
    expect(await trial.changedSince(before)).toEqual(['remote-mcp']);
    await trial.containerOf('runtime').remove({ force: true });
    const { Image = '' } = (await trial.inspect()).get('backend') ?? {};
    await trial.docker.createContainer({ name: `svc-${trial.id}-runtime`, Image });
    const { code, stderr } = await trial.platform.run(['up']);
    expect([code, stderr]).toEqual([4, expect.stringContaining(`"/svc-${trial.id}-runtime" is already in use`)]);
    await trial.containerOf('runtime').remove();
    expect(await trial.up()).toContain('runtime was removed: it is replaced.');
    await works('mended');
  });

  test('a port that another program took from a stopped container is refused, and the program is named', async () => {
    const { frontend: port } = readPlan(trial.platform.installation).ports;
    await trial.containerOf('frontend').stop();
    const stranger = createServer().listen(port, '127.0.0.1');
    await once(stranger, 'listening');
    const { code, stderr } = await trial.platform.run(['up']);
    stranger.close();
    expect(code).toBe(5);
    expect(stderr).toMatch(new RegExp(`Port ${port} of frontend is in use by ".+" \\(pid ${process.pid}\\)\\.`));
    expect(stderr.match(/is in use by/g)).toHaveLength(1);
    expect(await trial.up()).toContain('frontend was stopped: it is replaced.');
  });

  test('a call under way gets its answer while any part is replaced or stopped', async () => {
    const skill = await trial.platform.addSkill('slow', ['demo/slow_report']);
    await trial.platform.addRole('Slow', ['slow']);
    const slow = await trial.platform.connect(await trial.platform.addKey('slow'), `?skillIds=${skill}`);
    const reported = async (meanwhile: () => Promise<unknown>) => {
      // Longer than Docker's default deadline before it kills.
      const report = slow.text('slow_report', { sections: 6, secondsEach: 2.5 });
      await new Promise((resolve) => setTimeout(resolve, 1000));
      await Promise.all([meanwhile(), expect(report).resolves.toContain('## Section 6')]);
    };
    for (const [part, megabytes] of Object.entries({ 'remote-mcp': 512, runtime: 2048, backend: 512 })) {
      const before = await trial.ids();
      await reported(async () => {
        trial.platform.edit(`    ${part}: ${megabytes}`, `    ${part}: 500`);
        await trial.up();
      });
      expect(await trial.changedSince(before)).toEqual([part]);
    }
    await reported(() => trial.platform.svc('down'));
    await trial.up();
    await slow.client.close();
    await works('after all of it');
  });

  test('another engine never takes its place without a word', async () => {
    trial.platform.edit('engine: docker', 'engine: process');
    const { code, stderr } = await trial.platform.run(['up']);
    const refusal = "svc.yaml says engine: process, and the data of this platform is in Docker's volumes.";
    expect([code, stderr]).toEqual([5, expect.stringContaining(refusal)]);
    trial.platform.edit('engine: process', 'engine: docker');
  });

  test('down removes the containers, whatever svc.yaml says, and keeps data, keys, sessions and logs; up restores all of it', async () => {
    const network = `svc-${trial.id}`;
    const filters = { label: [`svc.installation=${trial.id}`] };
    const networks = async () => (await trial.docker.listNetworks({ filters })).map(({ Name }) => Name);
    {
      await using _ = await trial.stranger();
      await trial.docker.getNetwork(network).connect({ Container: `${network}-stranger` });
      const [id, mistake] = [`id: ${trial.id}`, 'id: 0123456789abcdef\nengin: docker'];
      trial.platform.edit(id, mistake);
      expect(await trial.platform.svc('down')).toMatchObject({ outcome: 'stopped' });
      trial.platform.edit(mistake, id);
      expect((await trial.inspect()).size).toBe(0);
      // A foreign container uses the network.
      expect(await networks()).toEqual([network]);
    }
    const { code, stdout } = await trial.platform.run(['status', '--json']);
    expect([code, JSON.parse(stdout).state]).toEqual([4, 'stopped']);
    const { lines } = await trial.platform.svc('logs', 'backend', '-n', '5');
    expect(lines.length).toBeGreaterThan(0);
    expect(await trial.platform.svc('down')).toMatchObject({ outcome: 'unchanged' });
    expect(await networks()).toEqual([]);
    await trial.up();
    await works('again');
    expect(agent.sent.filter(({ method }) => method === 'initialize')).toHaveLength(1);
  });
});
