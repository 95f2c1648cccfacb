import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { readPlan } from '../../engines/plan-of.ts';
import { startInBackground } from '../../engines/process/start.ts';
import type { Progress, UpResult } from '../../lifecycle/progress.ts';
import { isFree } from '../../machine/is-free.ts';
import { ownVersion } from '../../machine/version.ts';
import { isLostPort } from '../../ports/claim-ports.ts';
import { readLease } from '../../ports/port-lease.ts';
import { readRecord, writeRecord } from '../../state/platform-record.ts';
import { editDefinition } from '../../test/edit-definition.ts';
import { freePorts } from '../../test/free-ports.ts';
import { until } from '../../test/until.ts';
import { addMcpServer, occupy, pidOf, readWorkspaces } from './installed.ts';
import { listen, openTrial, platformsOf, startCommand, type Trial } from './trial.ts';

// Each starts the platform once to three times, on a machine that may have other things to do.
vi.setConfig({ testTimeout: 60_000 });

/** A refusal because a program of this test listens on the port. */
const takenBy = (service: string, port: number) => ({
  code: 'conflict',
  message: expect.stringMatching(
    new RegExp(`^Port ${port} of ${service} is in use by ".+" \\(pid ${process.pid}\\)\\.$`),
  ),
});

describe('up and down', () => {
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
    const ofBackend = first.states().filter((line) => line.startsWith('backend'));
    expect(ofBackend).toEqual(['planned', 'starting', 'healthy'].map((state) => `backend ${state}`));
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
    const told = listen();
    const changed = await trial.up({ onProgress: told.onProgress });
    expect(changed.outcome).toBe('restarted');
    expect(told.changes()).toEqual([
      'backend MCP_SERVER_COMMANDS: any → npx',
      'remote-mcp SVC_SESSION_IDLE_TIMEOUT_MS: 300000 → 60000',
    ]);
    expect(platformsOf(installation)).toHaveLength(1);
    expect(pidOf(installation)).not.toBe(before);

    const record = readRecord(installation) ?? expect.fail('nothing runs');
    writeRecord(installation, { ...record, version: '0.0.1', settings: { ...record.settings, version: '0.0.1' } });
    const upgraded = await trial.up();
    expect([upgraded.outcome, upgraded.changes]).toEqual(['restarted', [`version: 0.0.1 → ${ownVersion()}`]]);
  });

  test('two installations run side by side', async () => {
    await using one = await openTrial({});
    await using two = await openTrial({});
    const [first, second] = await Promise.all([one.up(), two.up()]);
    expect([first.status.state, second.status.state]).toEqual(['running', 'running']);
    expect(new Set([...Object.values(first.status.urls), ...Object.values(second.status.urls)]).size).toBe(8);
    await one.down();
    expect(await two.status()).toMatchObject({ state: 'running' });
  });
});

test('in the foreground it runs in that very process until a signal or svc down, and kill -9 leaves no obstacle', async () => {
  await using trial = await openTrial();
  const { installation, ports } = trial;
  const start = async () => {
    const command = startCommand('foreground', installation);
    await until(async () => (await trial.status()).state === 'running');
    return command;
  };
  const { child, ended } = await start();
  expect([pidOf(installation), platformsOf(installation)]).toEqual([child.pid, []]);
  child.kill('SIGTERM');
  expect(await ended).toBe(0);
  for (const port of ports) expect(await isFree('127.0.0.1', port), String(port)).toBe(true);
  expect(readRecord(installation)).toBeNull();

  const second = await start();
  expect(await trial.down()).toEqual({ outcome: 'stopped' });
  expect(await second.ended).toBe(0);

  const third = await start();
  third.child.kill('SIGKILL');
  await third.ended;
  expect(await trial.up()).toMatchObject({ outcome: 'started' });
  await expect(trial.up({ foreground: true })).rejects.toMatchObject({
    code: 'conflict',
    message: `The platform runs already, in the background (pid ${pidOf(installation)}).`,
  });
});

describe('ports', () => {
  test('a chosen port that is taken is a conflict that names the holder, and nothing is started', async () => {
    const [port = 0] = await freePorts(1);
    await using trial = await openTrial({ backend: port });
    const { installation } = trial;
    const stranger = await occupy(port);
    await expect(trial.up()).rejects.toMatchObject(takenBy('backend', port));
    expect(platformsOf(installation)).toEqual([]);
    // Taken between the check and the start, it is distinguished from every other failure.
    const options = { plan: readPlan(installation), env: process.env, signal: new AbortController().signal };
    const start = startInBackground({ ...options, onState: () => undefined });
    await expect(start).rejects.toSatisfy(isLostPort);
    await expect(start).rejects.toThrow(`Port ${port} of backend is in use by`);
    await new Promise((resolve) => stranger.close(resolve));
    expect(await trial.up()).toMatchObject({ outcome: 'started' });
  });

  test('a usual port that is taken moves, the choice is written down and kept', async () => {
    await using trial = await openTrial({});
    const stranger = createServer();
    // Somebody else may have it already: then it is taken all the same.
    await new Promise((resolve) => stranger.once('error', resolve).listen(8888, '127.0.0.1', () => resolve(null)));
    const told = listen();
    const { status: running } = await trial.up({ onProgress: told.onProgress });
    await new Promise((resolve) => stranger.close(resolve));
    const moved = /^Port 8888 is in use by .+: frontend moved to \d+, and stays there\.$/;
    expect(told.notices()).toContainEqual(expect.stringMatching(moved));
    const { frontend } = readLease(trial.installation);
    expect(frontend).toBeGreaterThan(8888);
    expect(running.urls.app).toBe(`http://localhost:${frontend}`);
    await trial.down();
    const again = await trial.up();
    expect(again.status.urls.app).toBe(running.urls.app);
  });
});

test('a start that fails for another reason than a port is tried once, and moves no port', async () => {
  await using trial = await openTrial({});
  const { installation } = trial;
  const before = await trial.up();
  await trial.down();
  const keys = ['system-runtime.key', 'system-remote-mcp.key'].map((name) => join(installation.secretsDir, name));
  const texts = keys.map((file) => readFileSync(file, 'utf8'));
  const write = (order: readonly string[]) => keys.map((file, index) => writeFileSync(file, order[index] ?? ''));
  // Each is then known already, as the other's: a conflict that no port has part in.
  write(texts.toReversed());
  const told = listen();
  const leased = readLease(installation);
  await expect(trial.up({ onProgress: told.onProgress })).rejects.toMatchObject({
    code: 'conflict',
    message: expect.stringMatching(/^The platform failed to register its identities: /),
  });
  expect(told.notices()).toEqual([]);
  expect(readLease(installation)).toEqual(leased);
  write(texts);
  expect((await trial.up()).status.urls).toEqual(before.status.urls);
});

describe('a port that another program takes after the plan was made', () => {
  /** Takes a port at the first notice, which comes after the plan. */
  async function startAgainst(trial: Trial, port: number) {
    rmSync(trial.installation.logsDir, { recursive: true });
    const strangers: Promise<Server>[] = [];
    const onProgress = ({ kind }: Progress) => {
      if (kind === 'notice' && strangers.length === 0) strangers.push(occupy(port));
    };
    const outcome = await trial.up({ onProgress }).catch((error: unknown) => error);
    expect(strangers).toHaveLength(1);
    for (const server of await Promise.all(strangers)) await new Promise((resolve) => server.close(resolve));
    return outcome;
  }

  test('is refused with its holder, and nothing is left running', async () => {
    await using trial = await openTrial();
    const { installation, ports } = trial;
    const [, , , frontend = 0] = ports;
    expect(await startAgainst(trial, frontend)).toMatchObject(takenBy('frontend', frontend));
    expect(platformsOf(installation)).toEqual([]);
  });

  test('moves where it is auto, with every other port', async () => {
    await using trial = await openTrial({});
    const before = (await trial.up()).status.urls;
    await trial.down();
    const { frontend = 0 } = readLease(trial.installation);
    const after = (await startAgainst(trial, frontend)) as UpResult;
    expect(after.outcome).toBe('started');
    expect(after.status.urls.app).not.toBe(before.app);
  });
});

test('a second svc at once is a conflict that names the first', async () => {
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

  // Interrupted, it stops the started parts.
  const interrupt = new AbortController();
  const starting = trial.up({ signal: interrupt.signal });
  until(() => platformsOf(installation).length === 1).then(() => interrupt.abort());
  await expect(starting).rejects.toMatchObject({ code: 'cancelled' });
  expect(platformsOf(installation)).toEqual([]);
  expect(await trial.up()).toMatchObject({ outcome: 'started' });
});

test('a start that fails names the service, the check, the cause and the next command, and leaves nothing running or reserved', async () => {
  await using trial = await openTrial({});
  const { installation } = trial;
  mkdirSync(join(installation.dataDir, 'graph.sqlite'));
  const failed = await trial.up().catch((error: Error) => error);
  expect(failed).toMatchObject({
    message: expect.stringMatching(/^backend failed to start: .+/),
    hint: expect.any(String),
  });
  expect([platformsOf(installation), readLease(installation)]).toEqual([[], {}]);
  const after = await trial.status();
  expect(after.state).toBe('stopped');
  expect(after.services[0]).toMatchObject({ name: 'backend', reason: expect.any(String) });
  expect(after.ended).toMatchObject({ by: 'failure', reason: after.services[0]?.reason });
  rmSync(join(installation.dataDir, 'graph.sqlite'), { recursive: true });
  expect(await trial.up()).toMatchObject({ outcome: 'started' });
  await trial.down();

  // A key that does not match the data is refused before anything starts.
  const file = join(installation.secretsDir, 'encryption.key');
  const right = readFileSync(file, 'utf8');
  writeFileSync(file, `${'ab'.repeat(32)}\n`);
  await expect(trial.up()).rejects.toMatchObject({
    code: 'forbidden',
    message: expect.stringContaining('is not the key that data/ is encrypted with'),
  });
  // Without the note the backend itself refuses, by its check value.
  rmSync(join(installation.dataDir, 'fingerprints.json'));
  await expect(trial.up()).rejects.toThrow(/^backend failed to start: .*(ENCRYPTION_KEY|encryption key)/);
  writeFileSync(file, right);
  expect(await trial.up()).toMatchObject({ outcome: 'started' });
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
  expect(inherited.PATH?.startsWith(process.env.PATH ?? '-')).toBe(true);
  expect(environment).not.toContain('of-the-shell');
  const ofPlatform = readFileSync(`/proc/${pidOf(installation)}/environ`, 'utf8');
  expect(ofPlatform).toContain('PATH=');
  expect(ofPlatform).not.toContain('of-the-shell');
  expect(environment).not.toContain('SYSTEM_KEY');
});
