import { expect, test } from 'vitest';
import type { Status } from '../../stack/lifecycle/status.ts';
import { describeStatus } from './status.ts';

const plain = { paint: (_colour: string, text: string) => text };

function statusWith(pids: readonly number[]): Status {
  const services = pids.map((pid, index) => ({
    ...{ name: `service-${index}`, state: 'healthy', health: 'green', url: `http://127.0.0.1:${index}`, pid },
    ...{ since: null, memoryBytes: 100 * 1024 * 1024, reason: null },
  }));
  return { state: 'running', topology: 'embedded', engine: 'process', services, mcpServers: [], runtimes: [] } as never;
}

function described(pids: readonly number[]): string {
  return describeStatus(statusWith(pids), plain as never);
}

test('the memory of a process that all services share is told once', () => {
  const text = described([7, 7]);
  expect(text).toContain('(embedded, process), in one process: pid 7, 100 MB.');
  expect(text.match(/100 MB/g)).toHaveLength(1);
});

test('services in processes of their own have their own memory', () => {
  const text = described([7, 8]);
  expect(text).toContain('(embedded, process).');
  expect(text).toContain('MEMORY');
  expect(text.match(/100 MB/g)).toHaveLength(2);
});
