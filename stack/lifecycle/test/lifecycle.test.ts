import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { connectToBackend } from '../../backend-client.ts';
import type { Installation } from '../../installation.ts';
import { isFree } from '../../ports/is-free.ts';
import { formatPorts, readLease } from '../../ports/port-lease.ts';
import { findRunning } from '../../state/find-running.ts';
import { lockHolder } from '../../state/lock.ts';
import { readRecord, writeRecord } from '../../state/platform-record.ts';
import { isAlive, ownIdentity, startTimeOf } from '../../state/process-identity.ts';
import { ownVersion } from '../../version.ts';
import { down } from '../down.ts';
import { LostPort } from '../explain-failure.ts';
import { readPlan } from '../plan.ts';
import { startInBackground } from '../start.ts';
import { status } from '../status.ts';
import { up } from '../up.ts';
import { freePorts, listen, openTrial, platformsOf, startCommand, until } from './trial.ts';

// Each starts the platform once to three times, on a machine that may have other things to do.
vi.setConfig({ testTimeout: 60_000 });

function edit({ definitionFile }: Installation, from: string | RegExp, to: string): void {
  const before = readFileSync(definitionFile, 'utf8');
  const after = before.replace(from, to);
  if (after === before) throw new Error(`there is no ${from} in svc.yaml`);
  writeFileSync(definitionFile, after);
}

async function readWorkspaces(installation: Installation) {
  const backend = await connectToBackend(installation);
  const answer = z.object({
    workspaces: z.object({
      nodes: z.array(z.object({ id: z.string(), name: z.string(), owner: z.object({ email: z.string() }) })),
    }),
  });
  const { workspaces } = await backend.query('{ workspaces { nodes { id name owner { email } } } }', {}, answer.parse);
  return workspaces.nodes;
}

async function addMcpServer(installation: Installation, launch: object): Promise<void> {
  const backend = await connectToBackend(installation);
  const [workspace] = await readWorkspaces(installation);
  await backend.query(
    'mutation ($workspace: ID!, $input: McpServerInput!) { createMcpServer(workspace: $workspace, input: $input) { id } }',
    { workspace: workspace?.id, input: { name: 'stubborn', launch } },
    () => undefined,
  );
}

/** Takes the port as soon as it is free. */
async function occupy(port: number): Promise<Server> {
  const server = createServer();
  await until(
    () =>
      new Promise<boolean>((resolve) => {
        server.once('error', () => resolve(false));
        server.listen(port, '127.0.0.1', () => resolve(true));
      }),
  );
  return server;
}

const pidOf = (installation: Installation) => readRecord(installation)?.pid ?? 0;

describe('up and down', () => {
  test('up brings all four services up with their first workspace, down ends them, and again nothing changes', async () => {
    await using trial = await openTrial();
    const { installation, ports } = trial;
    const first = listen();
    const started = await up({ env: process.env, installation, onProgress: first.onProgress });
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
    expect(first.states().filter((line) => line.startsWith('backend'))).toEqual(
      ['backend planned', 'backend starting', 'backend healthy'].slice(-3),
    );
    const workspaces = await readWorkspaces(installation);
    expect(workspaces).toMatchObject([{ name: 'Default', owner: { email: 'owner@localhost' } }]);

    const again = await up({ env: process.env, installation });
    expect([again.outcome, again.changes]).toEqual(['unchanged', []]);
    expect(platformsOf(installation)).toEqual([pid]);

    expect(await down({ installation })).toEqual({ outcome: 'stopped' });
    expect(platformsOf(installation)).toEqual([]);
    for (const port of ports) expect(await isFree('127.0.0.1', port), String(port)).toBe(true);
    expect(await down({ installation })).toEqual({ outcome: 'unchanged' });
    expect(await status({ installation })).toMatchObject({
      state: 'stopped',
      services: [{ state: 'stopped', pid: null }, {}, {}, {}],
    });

    await up({ env: process.env, installation });
    expect(await readWorkspaces(installation)).toEqual(workspaces);
  });

  test('a changed svc.yaml is told line by line and takes effect', async () => {
    await using trial = await openTrial();
    const { installation } = trial;
    await up({ env: process.env, installation });
    const before = pidOf(installation);
    edit(installation, 'sessionIdleTimeoutMs: 300000', 'sessionIdleTimeoutMs: 60000');
    edit(installation, /commands: any/, 'commands: [npx]');
    const told = listen();
    const changed = await up({ env: process.env, installation, onProgress: told.onProgress });
    expect(changed.outcome).toBe('restarted');
    expect(told.changes()).toEqual([
      'backend MCP_SERVER_COMMANDS: any → npx',
      'remote-mcp SVC_SESSION_IDLE_TIMEOUT_MS: 300000 → 60000',
    ]);
    expect(platformsOf(installation)).toHaveLength(1);
    expect(pidOf(installation)).not.toBe(before);
  });

  test('a platform of another version is told and started anew', async () => {
    await using trial = await openTrial();
    const { installation } = trial;
    await up({ env: process.env, installation });
    const record = readRecord(installation);
    if (record === null) throw new Error('nothing runs');
    writeRecord(installation, { ...record, version: '0.0.1', settings: { ...record.settings, version: '0.0.1' } });
    const changed = await up({ env: process.env, installation });
    expect([changed.outcome, changed.changes]).toEqual(['restarted', [`version: 0.0.1 → ${ownVersion()}`]]);
  });

  test('a mistake in svc.yaml leaves what runs alone', async () => {
    await using trial = await openTrial();
    const { installation } = trial;
    await up({ env: process.env, installation });
    edit(installation, 'topology: embedded', 'topology: embeded');
    await expect(up({ env: process.env, installation })).rejects.toMatchObject({ code: 'invalid_input' });
    expect(await status({ installation })).toMatchObject({ state: 'running' });
    edit(installation, 'topology: embeded', 'topology: embedded');
  });

  test('two installations run side by side', async () => {
    await using one = await openTrial({});
    await using two = await openTrial({});
    const [first, second] = await Promise.all([
      up({ env: process.env, installation: one.installation }),
      up({ env: process.env, installation: two.installation }),
    ]);
    expect([first.status.state, second.status.state]).toEqual(['running', 'running']);
    expect(new Set([...Object.values(first.status.urls), ...Object.values(second.status.urls)]).size).toBe(8);
    await down({ installation: one.installation });
    expect(await status({ installation: two.installation })).toMatchObject({ state: 'running' });
  });

  test('nothing of the shell that typed it gets into the platform but what it needs', async () => {
    await using trial = await openTrial();
    const { installation } = trial;
    process.env.SVC_TEST_STRAY_SECRET = 'stray';
    await up({ env: process.env, installation }).finally(() => delete process.env.SVC_TEST_STRAY_SECRET);
    const environment = readFileSync(`/proc/${pidOf(installation)}/environ`, 'utf8');
    expect(environment).toContain('PATH=');
    expect(environment).not.toContain('stray');
  });
});

describe('in the foreground', () => {
  test('it runs in that very process until the signal, and leaves no port behind', async () => {
    await using trial = await openTrial();
    const { installation, ports } = trial;
    const { child, ended } = startCommand('foreground', installation);
    await until(async () => (await status({ installation })).state === 'running');
    expect(pidOf(installation)).toBe(child.pid);
    expect(platformsOf(installation)).toEqual([]);
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
    for (const port of ports) expect(await isFree('127.0.0.1', port), String(port)).toBe(true);
    expect(readRecord(installation)).toBeNull();
  });

  test('svc down ends it too, and a kill -9 leaves nothing in the way', async () => {
    await using trial = await openTrial();
    const { installation } = trial;
    const first = startCommand('foreground', installation);
    await until(async () => (await status({ installation })).state === 'running');
    expect(await down({ installation })).toEqual({ outcome: 'stopped' });
    expect(await first.ended).toBe(0);
    const second = startCommand('foreground', installation);
    await until(async () => (await status({ installation })).state === 'running');
    second.child.kill('SIGKILL');
    await second.ended;
    expect(await up({ env: process.env, installation })).toMatchObject({ outcome: 'started' });
  });

  test('beside one in the background it is a conflict', async () => {
    await using trial = await openTrial();
    const { installation } = trial;
    await up({ env: process.env, installation });
    await expect(up({ env: process.env, installation, foreground: true })).rejects.toMatchObject({
      code: 'conflict',
      message: `The platform runs already, in the background (pid ${pidOf(installation)}).`,
    });
  });
});

describe('ports', () => {
  test('a chosen port that is taken is a conflict that names the holder, and nothing is started', async () => {
    const [port = 0] = await freePorts(1);
    await using trial = await openTrial({ backend: port });
    const { installation } = trial;
    const stranger = await occupy(port);
    const refused = up({ env: process.env, installation });
    await expect(refused).rejects.toMatchObject({ code: 'conflict' });
    await expect(refused).rejects.toThrow(
      new RegExp(`^Port ${port} of backend is taken by ".+" \\(pid ${process.pid}\\)\\.$`),
    );
    expect(platformsOf(installation)).toEqual([]);
    await new Promise((resolve) => stranger.close(resolve));
    expect(await up({ env: process.env, installation })).toMatchObject({ outcome: 'started' });
  });

  test('a usual port that is taken moves, the choice is written down and kept', async () => {
    await using trial = await openTrial({});
    const { installation } = trial;
    const stranger = createServer();
    // Somebody else may have it already: then it is taken all the same.
    await new Promise((resolve) => stranger.once('error', resolve).listen(8888, '127.0.0.1', () => resolve(null)));
    const told = listen();
    const { status: running } = await up({ env: process.env, installation, onProgress: told.onProgress });
    await new Promise((resolve) => stranger.close(resolve));
    expect(
      told.notices().some((line) => /^Port 8888 is taken by .+: frontend moved to \d+, and stays there\.$/.test(line)),
    ).toBe(true);
    const { frontend } = readLease(installation);
    expect(frontend).toBeGreaterThan(8888);
    expect(running.urls.app).toBe(`http://localhost:${frontend}`);
    await down({ installation });
    const again = await up({ env: process.env, installation });
    expect(again.status.urls.app).toBe(running.urls.app);
  });
});

describe('a start that fails for another reason than a port', () => {
  test('is tried once, and moves no port', async () => {
    await using trial = await openTrial({});
    const { installation } = trial;
    const before = await up({ env: process.env, installation });
    await down({ installation });
    const keys = ['system-runtime.key', 'system-remote-mcp.key'].map((name) => join(installation.secretsDir, name));
    const texts = keys.map((file) => readFileSync(file, 'utf8'));
    const write = (order: readonly string[]) => {
      for (const [index, text] of order.entries()) writeFileSync(keys[index] ?? '', text);
    };
    // Each is then known already, as the other's: a conflict that no port has part in.
    write(texts.toReversed());
    const told = listen();
    const leased = readLease(installation);
    await expect(up({ env: process.env, installation, onProgress: told.onProgress })).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringMatching(/^The platform failed to register its identities: /),
    });
    expect(told.notices()).toEqual([]);
    expect(readLease(installation)).toEqual(leased);
    write(texts);
    expect((await up({ env: process.env, installation })).status.urls).toEqual(before.status.urls);
  });

  test('leaves the ports that it would have had to nobody', async () => {
    await using trial = await openTrial({});
    const { installation } = trial;
    mkdirSync(join(installation.dataDir, 'graph.sqlite'));
    await expect(up({ env: process.env, installation })).rejects.toThrow(/^backend failed to start: /);
    expect(readLease(installation)).toEqual({});
  });
});

test('a port that is taken between the look and the deed is told apart from every other failure', async () => {
  const [port = 0] = await freePorts(1);
  await using trial = await openTrial({ backend: port });
  const { installation } = trial;
  const plan = readPlan(installation);
  const stranger = await occupy(port);
  const { signal } = new AbortController();
  const start = startInBackground({ plan, env: process.env, signal, onState: () => undefined });
  await expect(start).rejects.toBeInstanceOf(LostPort);
  await expect(start).rejects.toThrow(`Cannot listen on port ${port}`);
  await new Promise((resolve) => stranger.close(resolve));
});

describe('killed', () => {
  test('the platform, while it runs: status says that it was, up repairs and says so too', async () => {
    await using trial = await openTrial();
    const { installation } = trial;
    const begun = Date.now();
    await up({ env: process.env, installation });
    const [pid = 0] = platformsOf(installation);
    process.kill(pid, 'SIGKILL');
    await until(() => findRunning(installation) === null);
    const seen = await status({ installation });
    expect(seen).toMatchObject({
      state: 'stopped',
      ended: { by: 'outside', pid, reason: null, lastLogLine: expect.stringMatching(/^[a-z-]+ info /) },
    });
    expect(seen.services.map(({ state, since }) => [state, since])).toEqual(
      Array.from({ length: 4 }, () => ['stopped', seen.ended?.at]),
    );
    expect(Date.parse(seen.ended?.at ?? '')).toBeGreaterThanOrEqual(begun - 1000);
    const told = listen();
    const again = await up({ env: process.env, installation, onProgress: told.onProgress });
    expect([again.outcome, again.status.ended]).toEqual(['started', null]);
    const how = `was ended from outside (not by svc down), at about ${seen.ended?.at}; its last log line: ${seen.ended?.lastLogLine}.`;
    expect(told.notices()).toEqual([`The platform before (pid ${pid}) ${how} What it left was cleared away.`]);
    await down({ installation });
    expect((await status({ installation })).ended).toBeNull();
    await up({ env: process.env, installation });
    expect(await readWorkspaces(installation)).toHaveLength(1);
  });

  test('the platform, while it runs: down clears away', async () => {
    await using trial = await openTrial();
    const { installation } = trial;
    await up({ env: process.env, installation });
    process.kill(pidOf(installation), 'SIGKILL');
    await until(() => findRunning(installation) === null);
    const told = listen();
    expect(await down({ installation, onProgress: told.onProgress })).toEqual({ outcome: 'unchanged' });
    expect(told.notices()).toHaveLength(1);
    expect(readRecord(installation)).toBeNull();
  });

  test.each(['data', 'logs'])('the platform, and %s/ is gone: status tells, down clears away', async (folder) => {
    await using trial = await openTrial();
    const { installation } = trial;
    await up({ env: process.env, installation });
    const pid = pidOf(installation);
    process.kill(pid, 'SIGKILL');
    await until(() => findRunning(installation) === null);
    rmSync(join(installation.dir, folder), { recursive: true });
    expect(await status({ installation })).toMatchObject({ state: 'stopped', ended: { by: 'outside', pid } });
    expect(await down({ installation })).toEqual({ outcome: 'unchanged' });
    expect(readRecord(installation)).toBeNull();
  });

  test.each(['down', 'up', 'down after a failed up', 'a down that was under way'] as const)(
    'the platform, with an MCP server that does not end by itself: %s ends it',
    async (verb) => {
      await using trial = await openTrial();
      const { installation } = trial;
      await up({ env: process.env, installation });
      const pidFile = join(installation.dir, 'child.pid');
      // Reads nothing, answers nothing, and does not notice that nobody is there any more.
      const program = `require('fs').writeFileSync(${JSON.stringify(pidFile)}, String(process.pid)); setInterval(() => {}, 1000)`;
      await addMcpServer(installation, { command: process.execPath, args: ['-e', program] });
      await until(() => existsSync(pidFile) && readFileSync(pidFile, 'utf8') !== '');
      const child = Number(readFileSync(pidFile, 'utf8'));
      const told = listen();
      const options = { installation, onProgress: told.onProgress };
      // Stopped, it cannot end its children: to whoever waits for its end, it then ended as if by itself.
      process.kill(pidOf(installation), 'SIGSTOP');
      const underWay = verb === 'a down that was under way' ? down(options) : null;
      process.kill(pidOf(installation), 'SIGKILL');
      await until(() => findRunning(installation) === null);
      if (underWay === null) expect(startTimeOf(child)).not.toBeNull();
      if (verb === 'down after a failed up') {
        const stranger = await occupy(trial.ports[0] ?? 0);
        await expect(up({ env: process.env, ...options })).rejects.toMatchObject({ code: 'conflict' });
        await new Promise((resolve) => stranger.close(resolve));
      }
      await (underWay ?? (verb === 'up' ? up({ env: process.env, ...options }) : down(options)));
      expect(startTimeOf(child)).toBeNull();
      if (verb !== 'up') expect(told.notices().at(-1)).toBe('1 of its MCP servers still ran and was ended.');
    },
  );

  test('a number that belongs to another process by now is never hit', async () => {
    await using trial = await openTrial();
    const { installation } = trial;
    await up({ env: process.env, installation });
    const record = readRecord(installation);
    if (record === null) throw new Error('nothing runs');
    await down({ installation });
    writeRecord(installation, { ...record, pid: process.pid, startTime: record.startTime });
    expect(await status({ installation })).toMatchObject({ state: 'stopped' });
    expect(await down({ installation })).toEqual({ outcome: 'unchanged' });
    expect(isAlive(ownIdentity())).toBe(true);
  });

  test.each([100, 400, 700])('svc up, %i ms after it began: the next one repairs', async (delayMs) => {
    await using trial = await openTrial();
    const { installation } = trial;
    const { child, ended } = startCommand('up', installation);
    setTimeout(() => child.kill('SIGKILL'), delayMs);
    await ended;
    expect(await up({ env: process.env, installation })).toMatchObject({ status: { state: 'running' } });
    expect(platformsOf(installation)).toHaveLength(1);
    expect(await readWorkspaces(installation)).toHaveLength(1);
    await down({ installation });
    expect(platformsOf(installation)).toEqual([]);
  });

  test.each([0, 250])('the platform, %i ms into its start: up says so, the next one works', async (delayMs) => {
    await using trial = await openTrial();
    const { installation } = trial;
    const starting = up({ env: process.env, installation }).catch((error: Error) => error);
    await until(() => platformsOf(installation).length === 1);
    const [pid = 0] = platformsOf(installation);
    setTimeout(() => process.kill(pid, 'SIGKILL'), delayMs);
    expect(await starting).toMatchObject({
      message: expect.stringContaining(`The platform (pid ${pid}) ended without a word.`),
    });
    expect(await up({ env: process.env, installation })).toMatchObject({ status: { state: 'running' } });
    expect(await readWorkspaces(installation)).toHaveLength(1);
  });

  test('svc down, while it waits: the next one finishes', async () => {
    await using trial = await openTrial();
    const { installation } = trial;
    await up({ env: process.env, installation });
    const [pid = 0] = platformsOf(installation);
    // Stopped, it cannot answer, so that the command is killed while it waits.
    process.kill(pid, 'SIGSTOP');
    const { child, ended } = startCommand('down', installation);
    await until(() => lockHolder(installation, 'command')?.pid === child.pid);
    child.kill('SIGKILL');
    await ended;
    process.kill(pid, 'SIGCONT');
    await down({ installation });
    expect(platformsOf(installation)).toEqual([]);
  });
});

describe('where state/ was lost while it runs', () => {
  async function openLost() {
    const trial = await openTrial();
    const { installation } = trial;
    // With its messages on disk a second platform would stumble over the bus; nothing else may be what keeps it out.
    edit(installation, 'persistentMessaging: true', 'persistentMessaging: false');
    await up({ env: process.env, installation });
    const pid = pidOf(installation);
    renameSync(installation.stateDir, `${installation.stateDir}.lost`);
    return { ...trial, pid };
  }

  test('status and every other command say that it runs, and down stops it', async () => {
    await using trial = await openLost();
    const { installation, pid } = trial;
    const seen = await status({ installation });
    expect(seen).toMatchObject({ state: 'degraded', ended: null });
    expect(seen.services.map((service) => service.pid)).toEqual([pid, pid, pid, pid]);
    await expect(connectToBackend(installation)).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining(`(pid ${pid})`),
    });
    expect(await down({ installation })).toEqual({ outcome: 'stopped' });
    expect(platformsOf(installation)).toEqual([]);
    expect(await down({ installation })).toEqual({ outcome: 'unchanged' });
  });

  test('up starts it anew, on its ports and beside no other', async () => {
    await using trial = await openLost();
    const { installation, pid } = trial;
    const told = listen();
    expect(await up({ env: process.env, installation, onProgress: told.onProgress })).toMatchObject({
      outcome: 'restarted',
      status: { state: 'running' },
    });
    expect(told.notices()).toContain(
      `The platform (pid ${pid}) runs, but state/ does not say how: it is started anew.`,
    );
    expect(platformsOf(installation)).toEqual([pidOf(installation)]);
    expect(pidOf(installation)).not.toBe(pid);
  });

  test('in the foreground beside it is a conflict', async () => {
    await using trial = await openLost();
    const { installation, pid } = trial;
    await expect(up({ env: process.env, installation, foreground: true })).rejects.toMatchObject({
      code: 'conflict',
      message: `The platform runs already, in the background (pid ${pid}).`,
    });
  });
});

describe('a platform that nobody waits for', () => {
  test('does not come up after svc down where svc up was killed before it was to be seen', async () => {
    await using trial = await openTrial();
    const { installation } = trial;
    const { child, ended } = startCommand('up', installation);
    await until(() => platformsOf(installation).length === 1);
    const [pid = 0] = platformsOf(installation);
    process.kill(pid, 'SIGSTOP');
    child.kill('SIGKILL');
    await ended;
    // A machine may be so fast that it is to be seen already: then it is stopped, for which it must go on.
    if (findRunning(installation) !== null) process.kill(pid, 'SIGCONT');
    await down({ installation });
    if (startTimeOf(pid) !== null) process.kill(pid, 'SIGCONT');
    await until(() => startTimeOf(pid) === null);
    expect(findRunning(installation)).toBeNull();
    expect(await status({ installation })).toMatchObject({ state: 'stopped', ended: null });
  });

  test('ends before it has touched anything', async () => {
    await using trial = await openTrial();
    const { installation } = trial;
    const program = fileURLToPath(new URL('../../engines/process/main.ts', import.meta.url));
    const starter = startCommand('down', installation);
    await starter.ended;
    const child = spawn(
      process.execPath,
      [
        program,
        '--dir',
        installation.dir,
        '--ports',
        formatPorts(readPlan(installation).ports),
        '--started-by',
        String(starter.child.pid),
      ],
      { stdio: 'ignore' },
    );
    expect(await once(child, 'exit')).toEqual([0, null]);
    expect(existsSync(join(installation.dataDir, 'graph.sqlite'))).toBe(false);
    expect(readRecord(installation)).toBeNull();
  });
});

describe('at once', () => {
  test('a second svc is a conflict that names the first', async () => {
    await using trial = await openTrial();
    const { installation } = trial;
    const first = startCommand('up', installation);
    await until(() => platformsOf(installation).length === 1);
    await expect(up({ env: process.env, installation })).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining(`process ${first.child.pid}`),
    });
    await expect(down({ installation })).rejects.toMatchObject({ code: 'conflict' });
    expect(await first.ended).toBe(0);
  });

  test('interrupted, it stops what it started', async () => {
    await using trial = await openTrial();
    const { installation } = trial;
    const interrupt = new AbortController();
    const starting = up({ env: process.env, installation, signal: interrupt.signal });
    until(() => platformsOf(installation).length === 1).then(() => interrupt.abort());
    await expect(starting).rejects.toMatchObject({ code: 'cancelled' });
    expect(platformsOf(installation)).toEqual([]);
    expect(await up({ env: process.env, installation })).toMatchObject({ outcome: 'started' });
  });
});

describe('a start that fails', () => {
  test('names the service, the check, the cause and the next command, and leaves nothing running', async () => {
    await using trial = await openTrial();
    const { installation } = trial;
    mkdirSync(join(installation.dataDir, 'graph.sqlite'));
    const failed = await up({ env: process.env, installation }).catch((error: Error) => error);
    expect(failed).toMatchObject({
      message: expect.stringMatching(/^backend failed to start: .+/),
      hint: expect.any(String),
    });
    expect(platformsOf(installation)).toEqual([]);
    const after = await status({ installation });
    expect(after.state).toBe('stopped');
    expect(after.services[0]).toMatchObject({ name: 'backend', reason: expect.any(String) });
    expect(after.ended).toMatchObject({ by: 'failure', reason: after.services[0]?.reason });
    rmSync(join(installation.dataDir, 'graph.sqlite'), { recursive: true });
    expect(await up({ env: process.env, installation })).toMatchObject({ outcome: 'started' });
  });

  test('a key that does not match the data is refused before anything starts', async () => {
    await using trial = await openTrial();
    const { installation } = trial;
    await up({ env: process.env, installation });
    await down({ installation });
    const file = join(installation.secretsDir, 'encryption.key');
    const right = readFileSync(file, 'utf8');
    writeFileSync(file, `${'ab'.repeat(32)}\n`);
    await expect(up({ env: process.env, installation })).rejects.toMatchObject({
      code: 'forbidden',
      message: expect.stringContaining('is not the key that data/ is encrypted with'),
    });
    // Without the note the backend itself refuses, by its check value.
    rmSync(join(installation.dataDir, 'fingerprints.json'));
    await expect(up({ env: process.env, installation })).rejects.toThrow(
      /^backend failed to start: .*(ENCRYPTION_KEY|encryption key)/,
    );
    writeFileSync(file, right);
    expect(await up({ env: process.env, installation })).toMatchObject({ outcome: 'started' });
  });

  test('what is not built yet is refused', async () => {
    await using trial = await openTrial();
    edit(trial.installation, 'graph: sqlite', 'graph: dgraph');
    await expect(up({ env: process.env, installation: trial.installation })).rejects.toMatchObject({
      code: 'unsupported',
    });
    edit(trial.installation, 'graph: dgraph', 'graph: sqlite');
  });
});

test('an MCP server inherits where programs, proxies and authorities are, and no secret of the shell', async () => {
  await using trial = await openTrial();
  const { installation } = trial;
  const proxy = 'http://proxy.example.com:3128';
  await up({ env: { ...process.env, HTTPS_PROXY: proxy, MY_PASSWORD: 'of-the-shell' }, installation });
  const seen = join(installation.dir, 'environment.json');
  const program = `require('fs').writeFileSync(${JSON.stringify(seen)}, JSON.stringify(process.env)); setInterval(() => {}, 1000)`;
  await addMcpServer(installation, { command: 'node', args: ['-e', program] });
  await until(() => existsSync(seen) && readFileSync(seen, 'utf8').endsWith('}'));
  const environment = readFileSync(seen, 'utf8');
  const inherited: Record<string, string> = JSON.parse(environment);
  expect(inherited.HTTPS_PROXY).toBe(proxy);
  expect(inherited.PATH?.startsWith(process.env.PATH ?? '-')).toBe(true);
  expect(environment).not.toContain('of-the-shell');
  expect(environment).not.toContain('SYSTEM_KEY');
});
