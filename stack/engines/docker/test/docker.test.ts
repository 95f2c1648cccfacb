import { once } from 'node:events';
import { cpSync, renameSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { replaceScalar } from '../../../settings/yaml-text.ts';
import { type Agent, connectAgent } from '../../../test/agent.ts';
import { until } from '../../../test/until.ts';
import { readPlan } from '../../plan-of.ts';
import { listVolumes, releaseVolumes } from '../volumes.ts';
import { answersAt, askingWhetherAnswersAt, nobodyBeside } from './answers-at.ts';
import { DockerTrial, dockerHost } from './docker-trial.ts';

vi.setConfig({ testTimeout: 300_000, hookTimeout: 400_000 });

const parts = ['backend', 'remote-mcp', 'runtime', 'frontend', 'nats'];

/** The maximum size of the service image, and the maximum memory of an idle platform without NATS. */
const imageMaxBytes = 250e6;
const memoryMaxBytes = 350e6;

describe.skipIf(dockerHost === null)('on a real Docker', () => {
  let trial: DockerTrial;
  let agent: Agent;
  let key = '';

  beforeAll(async () => {
    trial = await DockerTrial.init({ settings: (yaml) => replaceScalar(yaml, ['publicUrls', 'keys'], 'auto') });
    await trial.up();
    key = await trial.platform.addKey('agent');
    agent = await trial.agentWithEcho(key);
  });
  afterAll(() => trial?.[Symbol.asyncDispose]());

  const works = (message: string) => trial.works(agent, message);
  const volumes = async () => [...(await listVolumes(trial.docker, trial.id))].sort();

  test('each part is a container, small at rest as the image is', async () => {
    const { services } = await trial.platform.svc('status');
    expect(services).toMatchObject(parts.map((name) => ({ name, container: `svc-${trial.id}-${name}` })));
    const taken = services.map(({ memoryBytes }: { memoryBytes: number }) => memoryBytes);
    expect(Math.min(...taken)).toBeGreaterThan(1e6);
    const ofServices = taken.slice(0, parts.indexOf('nats')).reduce((sum: number, one: number) => sum + one, 0);
    expect(ofServices).toBeLessThanOrEqual(memoryMaxBytes);
    const { backend } = Object.fromEntries(await trial.inspect());
    expect((await trial.docker.getImage(backend?.Image ?? '').inspect()).Size).toBeLessThanOrEqual(imageMaxBytes);
  });

  test('only published ports answer, on loopback only', async () => {
    const inspected = await trial.inspect();
    const { ports } = trial.platform;
    expect(await trial.published()).toEqual([
      ['backend', '3000/tcp', '127.0.0.1', ports.backend],
      ['frontend', '8888/tcp', '127.0.0.1', ports.frontend],
      ['remote-mcp', '3001/tcp', '127.0.0.1', ports['remote-mcp']],
    ]);
    expect(await answersAt('127.0.0.1', ports.backend)).toBe(true);
    for (const port of [ports.runtime, trial.platform.busPorts.port, trial.platform.busPorts.httpPort]) {
      expect(await answersAt('127.0.0.1', port)).toBe(false);
    }
    // This machine has no address in the network of NATS, so the runtime checks the port.
    const [{ IPAddress: nats = '' } = {}] = Object.values(inspected.get('nats')?.NetworkSettings.Networks ?? {});
    const asking = `node -e '${askingWhetherAnswersAt(nats, 4222)}' && echo yes`;
    expect(await trial.inContainer('runtime', asking)).toBe('yes');
    for (const port of [4222, 8222]) {
      expect([port, await answersAt(nats, port)]).toEqual([port, await answersAt(nobodyBeside(nats), port)]);
    }
  });

  test('the address for keys alone admits the key, and names no authorization server', async () => {
    const { ports } = trial.platform;
    const at = (host: string) => `http://${host}:${ports['remote-mcp']}`;
    const challengeAt = async (host: string) =>
      (await fetch(`${at(host)}/mcp`, { method: 'POST' })).headers.get('www-authenticate');
    expect(await challengeAt('localhost')).toContain(`resource_metadata="${at('localhost')}/.well-known/`);
    expect(await challengeAt('127.0.0.1')).toBe('Bearer realm="API keys"');
    expect((await fetch(`${at('127.0.0.1')}/.well-known/oauth-protected-resource/mcp`)).status).toBe(404);
    expect((await trial.platform.svc('status')).urls.keys).toBe(`${at('127.0.0.1')}/mcp`);
    const client = await connectAgent(`${at('127.0.0.1')}/mcp`, key);
    expect((await client.client.listTools()).tools.length).toBeGreaterThan(0);
    await client.client.close();
  });

  test('no container runs as root, can change its program or has a privilege', async () => {
    for (const [part, { Config }] of await trial.inspect()) {
      expect(Config.User, part).toMatch(/^[1-9]\d*:\d+$/);
      const output = await trial.inContainer(part, 'cat /proc/self/status; : > /svc-was-here');
      expect(output, part).toMatch(/CapEff:\s0{16}\nCapBnd:\s0{16}\nCapAmb:\s0{16}\nNoNewPrivs:\s1\n/);
      expect(output, part).toMatch(/Read-only file system/i);
    }
  });

  test('secrets lie in files that only their part is given, and nowhere in Docker', async () => {
    const search = trial.secretSearch();
    search.seek({ name: 'a key', value: key });
    expect(await trial.secretsInDocker(search)).toEqual([]);
    const inspected = await trial.inspect();
    // Proves that the search works: it finds a secret in the files of its part.
    const own = join(trial.platform.installation.stateDir, 'containers');
    expect(search.inFolder(own).map(({ secret }) => secret)).toContain('encryptionKey');
    const { mode, uid } = statSync(join(own, 'backend/encryption.key'));
    const user = inspected.get('backend')?.Config.User.split(':')[0];
    expect([mode & 0o777, String(uid)]).toEqual([0o400, user]);
    expect(await trial.inContainer('runtime', 'ls /run/svc')).toBe('system-runtime.key');
  });

  test('a foreign container or program in the place of a part is refused by name; then what was removed, stopped or paused is replaced', async () => {
    const before = await trial.ids();
    await trial.containerOf('runtime').remove({ force: true });
    const { Image = '' } = (await trial.inspect()).get('backend') ?? {};
    const foreign = await trial.docker.createContainer({ name: `svc-${trial.id}-runtime`, Image });
    const taken = await trial.platform.run(['up']);
    const used = `"/svc-${trial.id}-runtime" is already in use`;
    expect([taken.code, taken.stderr]).toEqual([4, expect.stringContaining(used)]);
    await foreign.remove();

    const { frontend: port } = readPlan(trial.platform.installation).ports;
    await trial.containerOf('frontend').stop();
    expect((await trial.platform.svc('status')).state).toBe('degraded');
    const stranger = createServer().listen(port, '127.0.0.1');
    await once(stranger, 'listening');
    const { code, stderr } = await trial.platform.run(['up']);
    stranger.close();
    expect(code).toBe(5);
    expect(stderr).toMatch(new RegExp(`Port ${port} of frontend is in use by ".+" \\(pid ${process.pid}\\)\\.`));
    expect(stderr.match(/is in use by/g)).toHaveLength(1);

    await trial.containerOf('remote-mcp').pause();
    const output = await trial.up();
    for (const why of ['runtime was removed', 'frontend was stopped', 'remote-mcp was paused'])
      expect(output).toContain(`${why}: it is replaced.`);
    expect((await trial.changedSince(before)).toSorted()).toEqual(['frontend', 'remote-mcp', 'runtime']);
    await works('mended');
  });

  test('a hanging part is killed and restarts by itself; a part that reports not ready stays', async () => {
    const hanging = ['frontend', 'nats'];
    const restarts = async (names: readonly string[]) => {
      const found = await trial.inspect();
      return names.map((part) => found.get(part)?.RestartCount);
    };
    for (const part of hanging) {
      // Docker ignores silence until the part has answered its first check.
      await until(async () => (await trial.containerOf(part).inspect()).State.Health?.Status === 'healthy', 60_000);
      await trial.inContainer(part, 'kill -STOP -1');
    }
    await until(async () => (await restarts(hanging)).every((count) => count === 1), 120_000);
    // During that time remote-mcp cannot reach the bus.
    expect(await restarts(['remote-mcp'])).toEqual([0]);
    await trial.platform.running(60_000);
    await works('after silence');
  });

  test('a call under way gets its answer while parts are replaced one after the other, or all are stopped', async () => {
    const skill = await trial.platform.addSkill('slow', ['demo/slow_report']);
    await trial.platform.addRole('Slow', ['slow']);
    const slow = await trial.platform.connect(await trial.platform.addKey('slow'), `?skillIds=${skill}`);
    const reported = async (meanwhile: () => Promise<unknown>) => {
      // The call takes longer than Docker's default deadline, after which Docker kills a container.
      const report = slow.text('slow_report', { sections: 6, secondsEach: 2.5 });
      await new Promise((resolve) => setTimeout(resolve, 1000));
      await Promise.all([meanwhile(), expect(report).resolves.toContain('## Section 6')]);
    };
    for (const replaced of [{ backend: 512, runtime: 2048 }, { 'remote-mcp': 512 }]) {
      const before = await trial.ids();
      await reported(async () => {
        for (const [part, megabytes] of Object.entries(replaced))
          trial.platform.edit(`    ${part}: ${megabytes}`, `    ${part}: 500`);
        await trial.up();
      });
      expect((await trial.changedSince(before)).toSorted()).toEqual(Object.keys(replaced));
    }
    await reported(() => trial.platform.svc('down'));
    await trial.up();
    await slow.client.close();
    await works('after all of it');
  });

  const dir = () => trial.platform.installation.dir;
  const copyOf = () => `${dir()}-copy`;
  const inCopy = async (...typed: readonly string[]) => {
    const { code, stdout } = await trial.platform.run([...typed, '--json'], { env: { SVC_DIR: copyOf() } });
    return { code, json: JSON.parse(stdout) };
  };

  test('its copied folder touches nothing of the original, and becomes an installation only without the data in volumes', async () => {
    const before = await trial.ids();
    const message = expect.stringContaining(`copy of the installation in "${dir()}"`);
    const hint = expect.stringContaining('--as-copy --start-empty');
    for (const isWhole of [true, false]) {
      cpSync(dir(), copyOf(), { recursive: true });
      if (!isWhole) rmSync(join(copyOf(), 'state'), { recursive: true });
      expect(await inCopy('up')).toMatchObject({ code: 5, json: { error: { message } } });
      if (isWhole) expect(await inCopy('down')).toMatchObject({ code: 5 });
      if (isWhole) expect(await inCopy('up', '--as-copy')).toMatchObject({ code: 1, json: { error: { hint } } });
      expect((await inCopy('status')).json).toMatchObject({ state: 'stopped' });
      rmSync(copyOf(), { recursive: true });
    }
    expect(await trial.changedSince(before)).toEqual([]);
  });

  test('down removes the containers whatever svc.yaml says, and keeps logs, and volumes which docker volume prune --all leaves alone', async () => {
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
      // The network stays, because a foreign container uses it.
      expect(await networks()).toEqual([network]);
    }
    const { lines } = await trial.platform.svc('logs', 'backend', '-n', '5');
    expect(lines.length).toBeGreaterThan(0);
    expect(await trial.platform.svc('down')).toMatchObject({ outcome: 'unchanged' });
    expect(await networks()).toEqual([]);
    const kept = await volumes();
    // Before Docker 23, the command removes every unused volume even without `--all`.
    const all = Number((await trial.docker.version()).ApiVersion) < 1.42 ? {} : { all: ['true'] };
    await trial.docker.pruneVolumes({ filters: JSON.stringify({ ...all, ...filters }) });
    expect(await volumes()).toEqual(kept);
  });

  const servers = async () =>
    (await trial.platform.svc('server', 'list')).mcpServers.map(({ name }: { name: string }) => name);

  test('its moved folder carries on with its data', async () => {
    await trial.platform.svc('down');
    renameSync(dir(), copyOf());
    expect(await inCopy('up')).toMatchObject({ code: 0 });
    expect(await inCopy('down')).toMatchObject({ code: 0 });
    renameSync(copyOf(), dir());
    expect(await trial.up()).toContain('was moved here');
    expect(await servers()).toEqual(['demo']);
  });

  test('with lost volumes it does not start: an error names them, until its name was typed', async () => {
    await trial.platform.svc('down');
    await releaseVolumes(trial.docker, trial.id);
    const lost = `svc-${trial.id}-backend`;
    await trial.docker.getVolume(lost).remove();
    const { code, json } = await trial.platform.fails('up');
    expect([code, json.error.message]).toEqual([1, `Data of this installation is missing: the volume ${lost}.`]);
    const unnamed = await trial.platform.fails('up', '--start-empty');
    expect(unnamed.code).toBe(2);
    expect(await volumes()).not.toContain(lost);
    const [, name = ''] = /--confirm (\S+)\.$/.exec(unnamed.json.error.hint) ?? [];
    await trial.platform.svc('up', '--start-empty', '--confirm', name);
    expect(await servers()).toEqual([]);
  });
});
