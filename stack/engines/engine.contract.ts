import { readFile, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { all } from '../../services/backend/files/blobs.contract.ts';
import type { EnvRecord } from '../../services/contracts/env/check.ts';
import type { ServiceStatus, Status } from '../lifecycle/platform-status.ts';
import type { Progress, UpResult } from '../lifecycle/progress.ts';
import { readLogs } from '../logs/read-logs.ts';
import { readWorkspaces } from '../operations/test/installed.ts';
import { bringUp } from '../operations/up.ts';
import { inStartOrder } from '../parts/parts.ts';
import { readDefinition } from '../settings/check.ts';
import { replaceScalar } from '../settings/yaml-text.ts';
import { Platform } from '../test/platform.ts';
import { until } from '../test/until.ts';
import { engineFor, engineOf, isUp } from './engine-of.ts';
import { readPlan } from './plan-of.ts';

export interface EngineTrial {
  readonly name: 'process' | 'docker';
  readonly env: EnvRecord;
  /** Kills a part without a graceful shutdown. */
  readonly kill: (service: ServiceStatus) => Promise<void>;
  /** Removes everything that `down` keeps. */
  readonly clear?: (id: string) => Promise<void>;
}

/** The first start of containers builds their image. */
const startMaxMs = 300_000;
const backWithinMs = 60_000;

/** The behaviour that the commands expect of every engine. */
export function engineContract({ name, env, kill, clear }: EngineTrial): void {
  describe(`the engine ${name}`, { timeout: startMaxMs }, () => {
    let platform: Platform;
    beforeAll(async () => {
      platform = await Platform.init({ topology: 'distributed', engine: name });
    });
    afterAll(async () => {
      await down();
      await clear?.(readPlan(platform.installation).definition.id);
      await platform[Symbol.asyncDispose]();
    }, startMaxMs);

    const chosen = () => engineFor(readDefinition(platform.installation.definitionFile));
    const ignore = () => undefined;
    const start = () => {
      const { installation } = platform;
      const { signal } = new AbortController();
      return { installation, env, foreground: false, startEmpty: null, signal, onNotice: ignore, onState: ignore };
    };
    const up = (events: Progress[] = [], restart: readonly string[] | 'all' = []): Promise<UpResult> => {
      const onProgress = (progress: Progress) => void events.push(progress);
      return bringUp({ ...start(), restart, avoid: new Set(), onProgress, release: ignore });
    };
    const down = () => chosen().down({ installation: platform.installation, onProgress: () => undefined });
    const status = () => {
      const { installation } = platform;
      return chosen().inspect({ installation, readPlan: () => readPlan(installation) });
    };
    const workspaces = () => readWorkspaces(platform.installation);
    const runsAs = ({ pid, container, since }: ServiceStatus) => pid ?? `${container} since ${since}`;
    const changed = (before: Status, after: Status) =>
      after.services
        .filter((one, index) => runsAs(one) !== runsAs(before.services[index] ?? one))
        .map(({ name }) => name);

    test('before the first start there is nothing to stop, and every part is shown as stopped', async () => {
      const { state, services } = await status();
      expect([state, await down(), isUp(platform.installation)]).toEqual(['stopped', 'unchanged', false]);
      expect(services.map(({ name: service, state }) => [service, state])).toEqual(
        readPlan(platform.installation).parts.map((part) => [part.name, 'stopped']),
      );
    });

    test('starts each part once those that it needs are healthy', async () => {
      const events: Progress[] = [];
      const result = await up(events);
      expect([result.outcome, result.status.state, result.status.engine]).toEqual(['started', 'running', name]);
      expect(result.status.services.every(({ state }) => state === 'healthy')).toBe(true);
      const healthy = events.flatMap((one) => (one.kind === 'service' && one.state === 'healthy' ? [one.name] : []));
      for (const { name: part, after } of inStartOrder(readPlan(platform.installation).parts)) {
        for (const needed of after) expect(healthy.indexOf(needed)).toBeLessThan(healthy.indexOf(part));
      }
      expect(engineOf(platform.installation)).toBe(chosen());
    });

    test('started again, it changes nothing', async () => {
      const before = await status();
      expect((await up()).outcome).toBe('unchanged');
      expect(changed(before, await status())).toEqual([]);
    });

    test('has the log of every part', async () => {
      const { installation } = platform;
      const more = await chosen().logs(installation, 1000);
      const filter = { services: [], since: null, level: 'trace', request: null, lines: 1000, follow: false } as const;
      const { signal } = new AbortController();
      const lines = await all(readLogs({ installation, more, ...filter, signal }));
      const services = ['backend', 'remote-mcp', 'runtime', 'frontend', 'nats'];
      expect(lines.map(({ service }) => service)).toEqual(expect.arrayContaining(services));
    });

    test('starts a part again that was killed, and no other', async () => {
      const before = await status();
      const frontend = before.services.find((one) => one.name === 'frontend') ?? expect.fail();
      await kill(frontend);
      await until(async () => {
        const now = await status();
        return now.state === 'running' && changed(before, now).includes('frontend');
      }, backWithinMs);
      const after = await status();
      expect(changed(before, after)).toEqual(['frontend']);
      expect(after.services.find((one) => one.name === 'frontend')).toMatchObject({
        restarts: 1,
        ends: [{ reason: expect.stringContaining('was killed (SIGKILL)') }],
      });
    });

    test('restarts the parts that svc.yaml changes, and no others', async () => {
      const before = await status();
      const { definitionFile } = platform.installation;
      const yaml = await readFile(definitionFile, 'utf8');
      await writeFile(definitionFile, replaceScalar(yaml, ['limits', 'sessionIdleTimeoutMs'], '900000'));
      const change = 'remote-mcp SVC_SESSION_IDLE_TIMEOUT_MS: 300000 → 900000';
      const prepared = await (await chosen().survey(start())).prepare(readPlan(platform.installation), new Set());
      expect([prepared.changes, prepared.isFresh, prepared.mustStop]).toEqual([[change], false, false]);
      expect(await prepared.isCurrent()).toBe(false);
      expect(changed(before, await status())).toEqual([]);
      const { outcome, changes } = await up();
      expect([outcome, changes]).toEqual(['restarted', [change]]);
      expect(changed(before, await status())).toEqual(['remote-mcp']);
    });

    test('restarts the named parts one after the other, and no others', async () => {
      const before = await status();
      const events: Progress[] = [];
      const { outcome, changes } = await up(events, ['frontend', 'remote-mcp']);
      expect([outcome, changes]).toEqual(['restarted', []]);
      const told = events.flatMap((one) => (one.kind === 'service' ? [`${one.name} ${one.state}`] : []));
      const turns = ['remote-mcp', 'frontend'].flatMap((part) => [`${part} starting`, `${part} healthy`]);
      expect(told.filter((line) => !line.endsWith(' stopped'))).toEqual(turns);
      const after = await status();
      expect(changed(before, after).sort()).toEqual(['frontend', 'remote-mcp']);
      // Only an unexpected end counts. A new container begins at none.
      const restartsBefore = new Map(before.services.map(({ name, restarts }) => [name, restarts]));
      for (const { name, restarts } of after.services)
        expect(restarts).toBeLessThanOrEqual(restartsBefore.get(name) ?? 0);
      await expect(up([], ['frontned'])).rejects.toMatchObject({ code: 'not_found', hint: 'Did you mean "frontend"?' });
      const { definitionFile } = platform.installation;
      const yaml = await readFile(definitionFile, 'utf8');
      await writeFile(definitionFile, replaceScalar(yaml, ['limits', 'sessionIdleTimeoutMs'], '800000'));
      await expect(up([], ['frontend'])).rejects.toMatchObject({ code: 'conflict', hint: 'Apply them: svc up' });
      await writeFile(definitionFile, yaml);
      expect(changed(after, await status())).toEqual([]);
    });

    test('stops every part and keeps its data', async () => {
      const before = await workspaces();
      expect([await down(), await down(), isUp(platform.installation)]).toEqual(['stopped', 'unchanged', false]);
      expect((await status()).services.every(({ state }) => state === 'stopped')).toBe(true);
      expect((await up()).status.state).toBe('running');
      expect(await workspaces()).toEqual(before);
    });
  });
}
