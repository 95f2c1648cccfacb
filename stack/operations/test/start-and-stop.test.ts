import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import type { Server } from 'node:http';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { portWishesOf, readPlan } from '../../engines/plan-of.ts';
import type { Progress, UpResult } from '../../lifecycle/progress.ts';
import { isFree } from '../../machine/is-free.ts';
import { ownVersion } from '../../machine/version.ts';
import { searchPathIn } from '../../plan/search-path.ts';
import { readLease, writeLease } from '../../ports/port-lease.ts';
import { readRecord, writeRecord } from '../../state/platform-record.ts';
import { editDefinition } from '../../test/edit-definition.ts';
import { until } from '../../test/until.ts';
import { addMcpServer, occupy, pidOf, readWorkspaces } from './installed.ts';
import { listen, openTrial, platformsOf, startCommand, type Trial } from './trial.ts';

// Each test starts the platform one to three times, on a machine that may be busy.
vi.setConfig({ testTimeout: 60_000 });

test('up brings all four services up with their first workspace, down ends them, and a change of svc.yaml or version is told and takes effect', async () => {
  await using trial = await openTrial();
  const { installation, ports } = trial;
  const first = listen();
  const started = await trial.up({ onProgress: first.onProgress });
  expect(started.outcome).toBe('started');
  expect(started.status).toMatchObject({
    state: 'running',
    topology: 'embedded',
    engine: 'process',
    urls: {
      api: `http://localhost:${ports[0]}`,
      mcp: `http://localhost:${ports[1]}/mcp`,
      app: `http://localhost:${ports[3]}`,
    },
    runtimes: [{ name: 'cloud', available: true }],
  });
  const [pid] = platformsOf(installation);
  expect(started.status.services).toEqual(
    ['backend', 'remote-mcp', 'runtime', 'frontend'].map((name, index) => ({
      name,
      state: 'healthy',
      health: 'green',
      url: `http://127.0.0.1:${ports[index]}`,
      pid,
      since: expect.stringMatching(/^\d{4}-/),
      memoryBytes: expect.any(Number),
      reason: null,
      restarts: 0,
      ends: [],
    })),
  );
  expect(first.told.flatMap((one) => (one.kind === 'service' && one.name === 'backend' ? [one.state] : []))).toEqual([
    'planned',
    'starting',
    'healthy',
  ]);
  const workspaces = await readWorkspaces(installation);
  expect(workspaces).toMatchObject([{ name: 'Default', owner: { email: 'owner@localhost' } }]);

  const again = await trial.up();
  expect([again.outcome, again.changes]).toEqual(['unchanged', []]);
  expect(platformsOf(installation)).toEqual([pid]);

  expect(await trial.down()).toEqual({ outcome: 'stopped' });
  expect(platformsOf(installation)).toEqual([]);
  for (const port of ports) expect(await isFree('127.0.0.1', port), String(port)).toBe(true);
  expect(await trial.down()).toEqual({ outcome: 'unchanged' });
  expect(await trial.status()).toMatchObject({
    state: 'stopped',
    services: [{ state: 'stopped', pid: null }, {}, {}, {}],
  });

  await trial.up();
  expect(await readWorkspaces(installation)).toEqual(workspaces);
  const before = pidOf(installation);
  editDefinition(installation, 'sessionIdleTimeoutMs: 300000', 'sessionIdleTimeoutMs: 60000');
  editDefinition(installation, /commands: any/, 'commands: [npx]');
  const changed = await trial.up();
  expect([changed.outcome, changed.changes]).toEqual([
    'restarted',
    ['backend MCP_SERVER_COMMANDS: any → npx', 'remote-mcp SVC_SESSION_IDLE_TIMEOUT_MS: 300000 → 60000'],
  ]);
  expect(platformsOf(installation)).toHaveLength(1);
  expect(pidOf(installation)).not.toBe(before);

  const record = readRecord(installation) ?? expect.fail('nothing runs');
  writeRecord(installation, { ...record, version: '0.0.1', settings: { ...record.settings, version: '0.0.1' } });
  const upgraded = await trial.up();
  expect([upgraded.outcome, upgraded.changes]).toEqual(['restarted', [`version: 0.0.1 → ${ownVersion()}`]]);
});

test('another PATH reaches the runtime with the next up, and folders that npx only names are no difference', async () => {
  await using trial = await openTrial();
  const PATH = searchPathIn(process.env);
  expect((await trial.up()).status.path).toBe(PATH);
  const throughNpx = await trial.up({ env: { ...process.env, PATH: `/no/such/node_modules/.bin:${PATH}` } });
  expect([throughNpx.outcome, throughNpx.changes]).toEqual(['unchanged', []]);
  const more = await trial.up({ env: { ...process.env, PATH: `${PATH}:/opt/more/bin` } });
  expect([more.outcome, more.changes]).toEqual(['restarted', [`runtime PATH: ${PATH} → ${PATH}:/opt/more/bin`]]);
  expect((await trial.status()).path).toBe(`${PATH}:/opt/more/bin`);
});

test('restart replaces the one process, keeps the ports, and refuses a platform that does not run or that a terminal holds', async () => {
  await using trial = await openTrial();
  const { installation } = trial;
  await expect(trial.up({ restart: 'all' })).rejects.toMatchObject({ code: 'unavailable', hint: 'Start it: svc up' });
  const { status } = await trial.up();
  const before = pidOf(installation);
  const listener = listen();
  const restarted = await trial.up({ restart: ['frontend'], onProgress: listener.onProgress });
  expect([restarted.outcome, restarted.changes, restarted.status.urls]).toEqual(['restarted', [], status.urls]);
  expect(listener.notices()).toEqual([`All services run in one process (pid ${before}), so all of them restart.`]);
  expect(platformsOf(installation)).toEqual([pidOf(installation)]);
  expect(pidOf(installation)).not.toBe(before);
  await trial.down();
  const { ended } = startCommand('foreground', installation);
  await until(async () => (await trial.status()).state === 'running');
  const hint = 'Press Ctrl-C there to stop it.';
  await expect(trial.up({ restart: 'all' })).rejects.toMatchObject({ code: 'conflict', hint });
  expect((await trial.status()).state).toBe('running');
  await trial.down();
  expect(await ended).toBe(0);
});

test('in the foreground it runs in that very process until svc down', async () => {
  await using trial = await openTrial();
  const { installation } = trial;
  const { child, ended } = startCommand('foreground', installation);
  await until(async () => (await trial.status()).state === 'running');
  expect([pidOf(installation), platformsOf(installation)]).toEqual([child.pid, []]);
  expect(await trial.down()).toEqual({ outcome: 'stopped' });
  expect(await ended).toBe(0);
  expect(readRecord(installation)).toBeNull();
});

const close = (server: Server) => new Promise((resolve) => server.close(resolve));

/** Starts the platform. At the first notice, which comes after the plan, another program takes the port. */
async function startAgainst(trial: Trial, port: number): Promise<UpResult> {
  rmSync(trial.installation.logsDir, { recursive: true });
  const strangers: Promise<Server>[] = [];
  const onProgress = ({ kind }: Progress) => {
    if (kind === 'notice' && strangers.length === 0) strangers.push(occupy(port));
  };
  try {
    return await trial.up({ onProgress });
  } finally {
    expect(strangers).toHaveLength(1);
    for (const server of await Promise.all(strangers)) await close(server);
  }
}

test('a chosen port that is taken, before or after the plan was made, is a conflict that names the holder', async () => {
  await using trial = await openTrial();
  const [, , , frontend = 0] = trial.ports;
  const taken = new RegExp(`^Port ${frontend} of frontend is in use by ".+" \\(pid ${process.pid}\\)\\.$`);
  const refusal = { code: 'conflict', message: expect.stringMatching(taken) };
  const stranger = await occupy(frontend);
  await expect(trial.up()).rejects.toMatchObject(refusal);
  await close(stranger);
  await expect(startAgainst(trial, frontend)).rejects.toMatchObject(refusal);
  expect(platformsOf(trial.installation)).toEqual([]);
  expect(await trial.up()).toMatchObject({ outcome: 'started' });
});

test('a port of auto that is taken, before or after the plan was made, moves, and agents are told', async () => {
  await using trial = await openTrial({});
  // Records the ports as if the services had moved there, because other programs may use the usual ports.
  const [backend = 0, remoteMcp = 0, runtime = 0, frontend = 0] = trial.ports;
  const ports = { backend, 'remote-mcp': remoteMcp, runtime, frontend };
  writeLease(trial.installation, ports, portWishesOf(readPlan(trial.installation).definition));
  const leased = () => readLease(trial.installation)['remote-mcp'] ?? 0;
  const first = listen();
  const before = (await trial.up({ onProgress: first.onProgress })).status.urls;
  expect(first.notices().join()).not.toContain('Give agents');
  await trial.down();

  const stranger = await occupy(leased());
  const listener = listen();
  const moved = (await trial.up({ onProgress: listener.onProgress })).status.urls;
  await close(stranger);
  expect(moved.mcp).toBe(`http://localhost:${leased()}/mcp`);
  expect(listener.notices()).toEqual([
    expect.stringMatching(/^Port \d+ is in use by .+: remote-mcp moved to \d+, and stays there\.$/),
    `Give agents that use ${before.mcp} the new address ${moved.mcp}.`,
  ]);
  await trial.down();

  const { outcome, status } = await startAgainst(trial, leased());
  expect(outcome).toBe('started');
  // Every other port moves too, because that program may be about to take it.
  for (const [name, url] of Object.entries(status.urls)) expect(Object.entries(moved)).not.toContainEqual([name, url]);
});

test('a port that moved stays although the start then failed, also when the usual one is free again', async () => {
  await using trial = await openTrial({});
  const { installation } = trial;
  const [backend = 0, remoteMcp = 0, runtime = 0, frontend = 0] = trial.ports;
  const ports = { backend, 'remote-mcp': remoteMcp, runtime, frontend };
  writeLease(installation, ports, portWishesOf(readPlan(installation).definition));
  const graph = join(installation.dataDir, 'graph.sqlite');
  mkdirSync(graph, { mode: 0o700 });
  const stranger = await occupy(remoteMcp);
  const listener = listen();
  await expect(trial.up({ onProgress: listener.onProgress })).rejects.toThrow(/^backend failed to start/);
  await close(stranger);
  rmSync(graph, { recursive: true });
  const [, told = ''] = /remote-mcp moved to (\d+), and stays there\.$/m.exec(listener.notices().join('\n')) ?? [];
  expect((await trial.up()).status.urls.mcp).toBe(`http://localhost:${told}/mcp`);
});

test('a second svc at once is a conflict that names the first, and an interrupted one stops what it started', async () => {
  await using trial = await openTrial();
  const { installation } = trial;
  const first = startCommand('up', installation);
  await until(() => platformsOf(installation).length === 1);
  await expect(trial.up()).rejects.toMatchObject({
    code: 'conflict',
    message: expect.stringContaining(`process ${first.child.pid}`),
  });
  await expect(trial.down()).rejects.toMatchObject({ code: 'conflict' });
  expect(await first.ended).toBe(0);
  await trial.down();

  const interrupt = new AbortController();
  const starting = trial.up({ signal: interrupt.signal });
  until(() => platformsOf(installation).length === 1).then(() => interrupt.abort());
  await expect(starting).rejects.toMatchObject({ code: 'cancelled' });
  expect(platformsOf(installation)).toEqual([]);
  expect(await trial.up()).toMatchObject({ outcome: 'started' });
});

test('a start that fails is tried once, names the service, the cause and the next command, and leaves nothing running or reserved', async () => {
  await using trial = await openTrial();
  const { installation } = trial;
  const listener = listen();
  const fail = () => trial.up({ onProgress: listener.onProgress }).catch((error: unknown) => error);
  const graph = join(installation.dataDir, 'graph.sqlite');
  mkdirSync(graph, { mode: 0o700 });
  expect(await fail()).toMatchObject({
    message: expect.stringMatching(/^backend failed to start: .+/),
    hint: expect.any(String),
  });
  expect([platformsOf(installation), readLease(installation)]).toEqual([[], {}]);
  const { state, services, ended } = await trial.status();
  expect([state, services[0]?.name, services[0]?.reason]).toEqual(['stopped', 'backend', expect.any(String)]);
  expect(ended).toMatchObject({ by: 'failure', reason: services[0]?.reason });
  rmSync(graph, { recursive: true });
  expect(await trial.up()).toMatchObject({ outcome: 'started' });
  await trial.down();

  // The two keys are exchanged, so each is already known as the key of the other service. No port causes this conflict.
  const [one = '', other = ''] = ['system-runtime.key', 'system-remote-mcp.key'].map((name) =>
    join(installation.secretsDir, name),
  );
  const before = [readFileSync(one), readFileSync(other), readLease(installation)];
  renameSync(one, `${one}.kept`);
  renameSync(other, one);
  renameSync(`${one}.kept`, other);
  expect(await fail()).toMatchObject({
    code: 'conflict',
    message: expect.stringMatching(/^The platform failed to register its identities: /),
  });
  expect([readFileSync(other), readFileSync(one), readLease(installation)]).toEqual(before);
  expect(listener.notices()).toEqual([]);
});

test('an MCP server inherits where programs, proxies and authorities are, and no secret of the shell', async () => {
  await using trial = await openTrial();
  const { installation } = trial;
  const proxy = 'http://proxy.example.com:3128';
  await trial.up({ env: { ...process.env, HTTPS_PROXY: proxy, MY_PASSWORD: 'of-the-shell' } });
  const seen = join(installation.dir, 'environment.json');
  const program = `require('fs').writeFileSync(${JSON.stringify(seen)}, JSON.stringify(process.env)); setInterval(() => {}, 1000)`;
  await addMcpServer(installation, { name: 'inheriting', launch: { command: 'node', args: ['-e', program] } });
  await until(() => existsSync(seen) && readFileSync(seen, 'utf8').endsWith('}'));
  const environment = readFileSync(seen, 'utf8');
  const inherited: Record<string, string> = JSON.parse(environment);
  expect(inherited.HTTPS_PROXY).toBe(proxy);
  expect(inherited.PATH?.startsWith(searchPathIn(process.env))).toBe(true);
  expect(environment).not.toContain('of-the-shell');
  const ofPlatform = readFileSync(`/proc/${pidOf(installation)}/environ`, 'utf8');
  expect(ofPlatform).toContain('PATH=');
  expect(ofPlatform).not.toContain('of-the-shell');
  expect(environment).not.toContain('SYSTEM_KEY');
});
