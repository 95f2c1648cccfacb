import { describe, expect, test } from 'vitest';
import { newId, newProcessId } from '../../contracts/ids.ts';
import type { Node } from '../graph/graph.ts';
import { stateOf } from './status.ts';

const server = { name: 'files', enabled: true, configVersion: 3 };
const runtime = newId('runtime');

function status(given: Partial<Node<'status'>>): Node<'status'> {
  return {
    id: newId('status'),
    workspace: newId('workspace'),
    version: 1,
    mcpServer: newId('mcpServer'),
    runtime,
    process: newProcessId(),
    configVersion: 3,
    status: 'Connected',
    health: 'green',
    reason: null,
    toolsReason: null,
    stderr: '[]',
    restarts: 0,
    startedAt: null,
    nextRetryAt: null,
    ...given,
  };
}

const because = (code: string) => JSON.stringify({ code, message: `It is ${code}.`, repair: 'Mend it.' });

describe('one process', () => {
  test('connected: green, without a reason, and calls can go there', () => {
    const one = status({ startedAt: 17, restarts: 2 });
    expect(stateOf(server, [one], [])).toEqual({
      status: 'Connected',
      health: 'green',
      reason: null,
      restarts: 2,
      startedAt: 17,
      nextRetryAt: null,
      stderr: [],
      processes: [{ runtime, process: one.process }],
    });
  });

  test('failed: its reason, its stderr and its next retry', () => {
    const failed = status({
      status: 'Error',
      health: 'red',
      reason: because('exited'),
      stderr: '["no such file"]',
      nextRetryAt: 99,
    });
    expect(stateOf(server, [failed], [])).toMatchObject({
      status: 'Error',
      health: 'red',
      reason: { code: 'exited' },
      stderr: ['no such file'],
      nextRetryAt: 99,
      processes: [],
    });
  });

  test('failed without a reason still names one', () => {
    expect(stateOf(server, [status({ status: 'Error' })], []).reason?.code).toBe('unknown');
  });

  test('connected and degraded: yellow, with its reason', () => {
    const slow = status({ health: 'yellow', reason: because('slow') });
    expect(stateOf(server, [slow], [])).toMatchObject({
      status: 'Connected',
      health: 'yellow',
      reason: { code: 'slow' },
    });
  });

  test('connected and down: red, and still Connected', () => {
    expect(stateOf(server, [status({ health: 'red' })], [])).toMatchObject({ status: 'Connected', health: 'red' });
  });
});

describe('no runtime runs it', () => {
  test('disabled wins over whatever processes still report', () => {
    expect(stateOf({ ...server, enabled: false }, [status({})], [])).toMatchObject({
      status: 'Disconnected',
      health: 'red',
      reason: { code: 'disabled' },
      processes: [],
    });
  });

  test('no process at all', () => {
    expect(stateOf(server, [], [])).toMatchObject({
      status: 'Disconnected',
      health: 'red',
      reason: { code: 'no_runtime', message: 'No available runtime runs it.' },
    });
  });

  const bound = (name: string, revokedAt: number | null = null) => ({ name, revokedAt });
  const names = Array.from({ length: 7 }, (_, i) => bound(`r${i}`));
  test.each([
    ['the runtime is away', [bound('edge')], 'no_runtime', 'Its runtime "edge" is not connected.'],
    ['several are away', [bound('edge'), bound('lab')], 'no_runtime', 'Its runtimes "edge", "lab" are not connected.'],
    [
      'one is away and another revoked',
      [bound('edge', 1), bound('lab')],
      'no_runtime',
      'Its runtime "lab" is not connected.',
    ],
    ['the runtime was revoked', [bound('edge', 1)], 'runtime_revoked', 'Its runtime "edge" was revoked.'],
    [
      'very many are away',
      names,
      'no_runtime',
      'Its runtimes "r0", "r1", "r2", "r3", "r4" and others are not connected.',
    ],
  ])('%s', (_what, runtimes, code, message) => {
    expect(stateOf(server, [], runtimes).reason).toMatchObject({ code, message });
  });

  test('a report about an earlier configuration does not count', () => {
    const old = status({ configVersion: 2 });
    expect(stateOf(server, [old], [])).toMatchObject({
      status: 'Disconnected',
      reason: { code: 'starting' },
      processes: [],
    });
    const failed = status({ status: 'Error', reason: because('exited') });
    expect(stateOf(server, [old, failed], [])).toMatchObject({ status: 'Error', reason: { code: 'exited' } });
  });

  test('a process that has stopped it', () => {
    expect(stateOf(server, [status({ status: 'Disconnected' })], [])).toMatchObject({
      status: 'Disconnected',
      health: 'red',
      reason: { code: 'stopped' },
    });
  });
});

describe('several processes', () => {
  const good = status({ startedAt: 1 });
  const failed = (retry: number | null) => status({ status: 'Error', reason: because('exited'), nextRetryAt: retry });

  test("Connected while one process is, degraded while another fails, and the reason is the failing one's", () => {
    expect(stateOf(server, [failed(5), good], [])).toMatchObject({
      status: 'Connected',
      health: 'yellow',
      reason: { code: 'exited' },
      nextRetryAt: null,
      processes: [{ process: good.process }],
    });
  });

  test('all failed: the soonest known retry', () => {
    expect(stateOf(server, [failed(null), failed(9), failed(5)], [])).toMatchObject({
      status: 'Error',
      nextRetryAt: 5,
    });
  });

  test('restarts add up and the latest start counts', () => {
    const both = [status({ restarts: 1, startedAt: 8 }), status({ restarts: 2, startedAt: 3 })];
    expect(stateOf(server, both, [])).toMatchObject({ restarts: 3, startedAt: 8, health: 'green' });
  });
});
