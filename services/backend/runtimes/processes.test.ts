import { expect, test } from 'vitest';
import { newId, newProcessId } from '../../contracts/ids.ts';
import { Processes } from './processes.ts';

const runtime = newId('runtime');
const process = newProcessId();

function at() {
  let now = 1000;
  const processes = new Processes(() => now);
  return {
    processes,
    later: (ms: number) => {
      now += ms;
    },
  };
}

test('a runtime is available while one of its processes sends heartbeats', () => {
  const { processes } = at();
  expect(processes.isAvailable(runtime)).toBe(false);
  expect(processes.seen(runtime, process, { intervalMs: 100 })).toBe(true);
  expect(processes.seen(runtime, newProcessId(), { intervalMs: 100 })).toBe(true);
  expect(processes.seen(runtime, process, { intervalMs: 100 })).toBe(false);
  processes.gone({ runtime, process });
  expect(processes.isAvailable(runtime)).toBe(true);
  expect(processes.isAvailable(newId('runtime'))).toBe(false);
});

test('tells of each sign of life, and of an end once', () => {
  const { processes } = at();
  const told: string[] = [];
  const stop = processes.onChange((one) => told.push(one));
  processes.seen(runtime, process);
  processes.seen(runtime, process);
  processes.gone({ runtime, process });
  processes.gone({ runtime, process });
  expect(told).toEqual([runtime, runtime, runtime]);
  stop();
  processes.seen(runtime, process);
  expect(told).toHaveLength(3);
});

test('three missed heartbeats are overdue, two are not', () => {
  const { processes, later } = at();
  processes.seen(runtime, process, { intervalMs: 100 });
  later(299);
  expect(processes.overdue()).toEqual([]);
  later(1);
  expect(processes.overdue()).toMatchObject([{ runtime, process }]);
});

test('each sign of life restarts the count', () => {
  const { processes, later } = at();
  processes.seen(runtime, process, { intervalMs: 100 });
  later(200);
  processes.seen(runtime, process, { intervalMs: 100 });
  later(299);
  expect(processes.overdue()).toEqual([]);
});

test('a process with an unknown interval is given the default one', () => {
  const { processes, later } = at();
  processes.seen(runtime, process);
  later(14_999);
  expect(processes.overdue()).toEqual([]);
  later(1);
  expect(processes.overdue()).toHaveLength(1);
});

test('a sign of life without an interval keeps the known one', () => {
  const { processes, later } = at();
  processes.seen(runtime, process, { intervalMs: 100 });
  processes.seen(runtime, process);
  later(300);
  expect(processes.overdue()).toHaveLength(1);
});

test('pardoned processes are silent from then on', () => {
  const { processes, later } = at();
  processes.seen(runtime, process, { intervalMs: 100 });
  later(1000);
  processes.pardonAll();
  later(299);
  expect(processes.overdue()).toEqual([]);
  later(1);
  expect(processes.overdue()).toHaveLength(1);
});
