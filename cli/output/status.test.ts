import { expect, test } from 'vitest';
import type { Status } from '../../stack/lifecycle/platform-status.ts';
import { describeStatus } from './status.ts';
import { describeUp } from './up.ts';

const plain = { paint: (_colour: string, text: string) => text, columns: null, asTyped: (text: string) => text };

function statusWith(pids: readonly number[]): Status {
  const services = pids.map((pid, index) => ({
    ...{ name: `service-${index}`, state: 'healthy', health: 'green', url: `http://127.0.0.1:${index}`, pid },
    ...{ since: null, memoryBytes: 100 * 1024 * 1024, reason: null, restarts: 0, ends: [] },
  }));
  return {
    state: 'running',
    topology: 'embedded',
    engine: 'process',
    services,
    ended: null,
    fullDisk: null,
    contentProblem: null,
    copyOf: null,
    supervisor: null,
    mcpServers: [],
    runtimes: [],
    mail: null,
    urls: {
      app: 'http://localhost:1',
      api: 'http://localhost:2',
      mcp: 'http://localhost:3/mcp',
      keys: 'http://localhost:3/mcp',
    },
  } as never;
}

function described(pids: readonly number[]): string {
  return describeStatus(statusWith(pids), plain as never);
}

test('the memory of a process that all services share is shown once', () => {
  const text = described([7, 7]);
  expect(text).toContain('(embedded, process), in one process: pid 7, 100 MB.');
  expect(text.match(/100 MB/g)).toHaveLength(1);
});

test('mail is shown only while it fails or waits long', () => {
  const well = { waiting: 0, failed: 0, unsure: 0, oldestAt: null, lastError: null };
  const told = (mail: object) =>
    describeStatus({ ...statusWith([7]), mail: { ...well, ...mail } } as never, plain as never).match(/mail: .*/)?.[0];
  const minutesAgo = (minutes: number) => Date.now() - minutes * 60_000;
  expect(told({})).toBeUndefined();
  expect(told({ waiting: 3, oldestAt: minutesAgo(1) })).toBeUndefined();
  expect(told({ waiting: 3, oldestAt: minutesAgo(6) })).toBe('mail: 3 mails wait to be sent, the oldest for 6 min.');
  expect(told({ waiting: 1, oldestAt: minutesAgo(1), lastError: 'provider_a answered 503' })).toBe(
    'mail: 1 mail waits to be sent, the oldest for 1 min. The last error: provider_a answered 503.',
  );
  expect(told({ failed: 1, unsure: 2, lastError: 'm:25 failed' })).toBe(
    'mail: 1 mail was given up. 2 mails may have been sent and are not repeated. The last error: m:25 failed.',
  );
  const up = describeUp({ ...statusWith([7]), mail: { ...well, failed: 2 } } as never, plain as never);
  expect(up).toContain('mail: 2 mails were given up.');
});

test('a full disk is shown before its consequences', () => {
  const fullDisk = 'The disk is full: "/srv/data/nats" has 0 KB left, and a start needs 256 KB.';
  const told = describeStatus({ ...statusWith([7]), fullDisk }, plain as never);
  expect(told).toContain(`${fullDisk} Data there cannot change until the disk has free space.\n\n  app`);
  expect(described([7])).not.toContain('disk');
});

test('services in separate processes have their own memory', () => {
  const text = described([7, 8]);
  expect(text).toContain('(embedded, process).');
  expect(text).toContain('MEMORY');
  expect(text.match(/100 MB/g)).toHaveLength(2);
});

test('a service that ended unexpectedly is shown with number, time and reason', () => {
  const seen = statusWith([7, 8]);
  const ends = [{ at: new Date(Date.now() - 120_000).toISOString(), reason: 'was killed (SIGKILL)' }];
  const [first, second] = seen.services;
  const well = { ...seen, services: [first, { ...second, restarts: 3, ends }] };
  const text = describeStatus(well as never, plain as never);
  expect(text).toContain(
    'service-1: ended 3 times without being asked, the last time 2 min ago: it was killed (SIGKILL).',
  );
  expect(text).toMatch(/RESTARTS\n.+–\n.+3$/m);
  expect(described([7, 8])).not.toContain('RESTARTS');
  const reason = 'Not restarted until the next svc up: it was killed (SIGKILL).';
  const failed = { ...seen, services: [first, { ...second, state: 'failed', reason, restarts: 9, ends }] };
  const told = describeStatus(failed as never, plain as never);
  expect(told).toContain(
    `service-1: ${reason}\nservice-1: ended 9 times without being asked, the last time 2 min ago.`,
  );
});

test('a silent supervisor is shown, with the repair', () => {
  const silent = { ...statusWith([7, 8]), state: 'degraded', supervisor: { pid: 9, state: 'silent' } };
  expect(describeStatus(silent as never, plain as never)).toContain('Its supervisor (pid 9) does not answer');
});

test('services without their supervisor are shown as such', () => {
  const left = { ...statusWith([7, 8]), state: 'degraded', ended: { ...end, by: 'outside', reason: null } };
  const text = describeStatus(left as never, plain as never);
  expect(text).toContain('Its services still run, but nothing restarts them. svc up takes them over.');
  expect(text).toContain('mcp   http://localhost:3/mcp');
});

const end = { pid: 7, at: '2026-11-21T15:04:05Z', lastLogLine: 'backend info backend listening' };

test('the end of a platform that was not stopped is shown, with the repair', () => {
  const killed = { ...statusWith([]), state: 'stopped', ended: { ...end, by: 'outside', reason: null } };
  expect(describeStatus(killed as never, plain as never)).toContain(
    'The previous platform (pid 7) was ended from outside (not by svc down), at about 2026-11-21T15:04:05Z; ' +
      'its last log line: backend info backend listening. svc up starts it again.',
  );
  const failed = { ...killed, ended: { ...end, by: 'failure', reason: 'The disk is full.\nMore.', lastLogLine: null } };
  expect(describeStatus(failed as never, plain as never)).toContain(
    'The previous platform (pid 7) ended by itself, at 2026-11-21T15:04:05Z: The disk is full. svc up',
  );
  expect(describeStatus(statusWith([7]), plain as never)).not.toContain('before');
});

test('a copied folder is shown, with the way to make it an installation', () => {
  const stopped = { ...statusWith([]), state: 'stopped', copyOf: '/srv/svc' } as const;
  const told = describeStatus(stopped, plain as never);
  expect(told).toContain('This folder is a copy of /srv/svc. Its status is not shown here.');
  expect(told).toContain('svc up --as-copy');
  expect(told).not.toContain('Start it');
});

test('a running platform shows its addresses, and a stopped one how to start it', () => {
  expect(described([7])).toContain('mcp   http://localhost:3/mcp');
  expect(described([7])).not.toContain('svc up');
  const stopped = describeStatus({ ...statusWith([]), state: 'stopped' } as never, plain as never);
  expect(stopped).toContain('stopped (embedded, process). Start it: svc up');
  expect(stopped).not.toContain('/mcp');
});

test.each([60, 80])('at %i columns no line is longer, and the reasons are below their table', (columns) => {
  const reason = { code: 'x', message: `It ended.\n${'more '.repeat(50)}`, repair: 'Mend it.' };
  const server = {
    id: 'm',
    name: 'crm',
    workspace: 'Default',
    status: 'Error',
    health: 'red',
    reason,
    sandboxes: ['none'],
  };
  const text = describeStatus({ ...statusWith([7, 8]), mcpServers: [server] } as never, { ...plain, columns } as never);
  expect(Math.max(...text.split('\n').map((line) => line.length))).toBeLessThanOrEqual(columns);
  expect(text).toMatch(/^crm +Default +Error +down +none$/m);
  expect(text).toContain('crm: It ended. Mend it.');
});

test('an MCP server that a person switched off is Disabled, and needs no reason', () => {
  const off = { id: 'a', name: 'off', workspace: 'Default', status: 'Disconnected', health: 'red', sandboxes: [] };
  const mcpServers = [{ ...off, reason: { code: 'disabled', message: 'It is disabled.', repair: 'Enable it.' } }];
  const text = describeStatus({ ...statusWith([7]), mcpServers } as never, plain as never);
  expect(text).toMatch(/^off +Default +Disabled +– +–$/m);
  expect(text).not.toContain('It is disabled.');
});

test('svc up shows ten MCP servers that failed, and how to see the others', () => {
  const reason = { code: 'exited', message: 'It failed.', repair: 'Correct it.' };
  const mcpServers = Array.from({ length: 200 }, (_, i) => ({ name: `server-${i}`, status: 'Error', reason }));
  const lines = describeUp({ ...statusWith([7]), mcpServers } as never, plain as never).split('\n');
  expect(lines.slice(-3)).toEqual([
    'server-8: It failed. Correct it.',
    'server-9: It failed. Correct it.',
    'And 190 more. Show all: svc status',
  ]);
  expect(lines).toHaveLength(17);
});
