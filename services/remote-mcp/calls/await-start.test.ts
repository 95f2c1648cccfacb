import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { SvcError } from '../../contracts/errors.ts';
import { newId } from '../../contracts/ids.ts';
import { CatalogueBuilder } from '../catalogue/catalogue-builder.ts';
import { CatalogueWaits } from '../catalogue/catalogue-waits.ts';
import { RuntimeProcess } from '../routing/runtime-process.ts';
import { nothingDisclosed } from '../sessions/disclosure.ts';
import { Attempts } from './attempts.ts';
import { awaitStart } from './await-start.ts';
import type { CallView } from './call.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

/** The view of one skill whose MCP server is starting. */
async function viewOfStarting(): Promise<CallView> {
  const [workspace, server, tool, skill] = [newId('workspace'), newId('mcpServer'), newId('tool'), newId('skill')];
  const builder = new CatalogueBuilder({ of: (runtime, process) => new RuntimeProcess(runtime, process) });
  builder.add({ entry: 'head', workspace, name: 'acme', suspended: false, version: 1, statusVersion: 1 });
  builder.add({
    ...{ entry: 'mcpServer', id: server, name: 'files', status: 'Disconnected', health: 'red', nextRetryAt: null },
    ...{ reason: { code: 'starting', message: 'It is starting.', repair: 'Wait.' }, runtimes: [], processes: [] },
  });
  builder.add({
    ...{ entry: 'tool', mcpServer: server, definition: '{"inputSchema":{"type":"object"}}' },
    ...{ id: tool, name: 'read', originalName: 'read' },
  });
  builder.add({
    ...{ entry: 'skill', id: skill, name: 'all', description: '', instructions: '' },
    ...{ tools: [tool], missingTools: [], patterns: [], files: [], mcpServers: [server] },
  });
  builder.add({
    ...{ entry: 'role', id: newId('role'), name: 'All', description: '', enabled: true, skills: [skill] },
    ...{ readOnly: false, rules: [] },
  });
  builder.add({ entry: 'end', entries: 6 });
  const catalogue = await builder.build();
  if (catalogue === null) throw new Error('incomplete');
  const principal = {
    ...{ key: newId('key'), keyName: 'agent', user: newId('user'), workspace, workspaceName: 'acme' },
    ...{ suspended: false, roles: null, disclosure: 'skills' as const, expiresAt: null },
  };
  return { catalogue, principal, session: { disclosure: nothingDisclosed } as CallView['session'] };
}

/** How long a call waits for a start that never ends. */
async function waitedMs(attempts: Attempts): Promise<number> {
  const view = await viewOfStarting();
  const began = performance.now();
  const waiting = awaitStart(
    { waits: new CatalogueWaits(), principals: { authenticate: () => view.principal } as never },
    { authorization: undefined, signal: new AbortController().signal },
    { view, name: 'read', silenceLeftMs: attempts.silenceLeftMs(60_000) },
  );
  await vi.runAllTimersAsync();
  await waiting;
  return performance.now() - began;
}

test('a call waits half a minute for a start', async () => {
  expect(await waitedMs(new Attempts())).toBe(30_000);
});

test('before another attempt, a call waits no longer than it may still be silent', async () => {
  const attempts = new Attempts();
  vi.advanceTimersByTime(50_000);
  attempts.again(new SvcError('unavailable', 'Its process has gone.'));
  expect(await waitedMs(attempts)).toBe(10_000);
});
