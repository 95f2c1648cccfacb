import { expect, test } from 'vitest';
import { type UsageRecord, usageBatch } from '../../contracts/bus/messages.ts';
import { newId } from '../../contracts/ids.ts';
import type { BusLink } from '../bus/bus-link.ts';
import { UsageLog, type UsedTool } from './usage-log.ts';

const principal = { workspace: newId('workspace'), key: newId('key') };
const used: UsedTool = {
  ...{ mcpServer: newId('mcpServer'), tool: newId('tool'), skill: newId('skill') },
  ...{ outcome: 'ok', durationMs: 2 },
};

/** A log with a bus that records its batches. */
function openLog() {
  const records: UsageRecord[] = [];
  const append = async (payload: Uint8Array) => {
    records.push(...usageBatch.parse(JSON.parse(Buffer.from(payload).toString())));
  };
  const link = { present: { bus: { stream: () => ({ append }) } } } as unknown as BusLink;
  const log = new UsageLog(link, { warn: () => {}, debug: () => {} } as never);
  return {
    log,
    records,
    called: (more: Partial<UsedTool> = {}) => log.called(principal as never, { ...used, ...more }),
  };
}

test('calls that differ only in their duration become one record', async () => {
  const { log, records, called } = openLog();
  for (let i = 0; i < 5; i++) called();
  called({ outcome: 'error' });
  called({ tool: newId('tool') });
  called({ skill: null });
  await log.stop();
  expect(records.map(({ call }) => [call?.calls, call?.durationMs])).toEqual([
    [5, 10],
    [1, 2],
    [1, 2],
    [1, 2],
  ]);
});

test('more calls than one record can count become several records', async () => {
  const { log, records, called } = openLog();
  for (let i = 0; i < 100_001; i++) called();
  await log.stop();
  expect(records.map(({ call }) => call?.calls)).toEqual([100_000, 1]);
});

test('calls of many tools in one second become batches that the backend accepts', async () => {
  const { log, records, called } = openLog();
  for (let i = 0; i < 2500; i++) called({ tool: newId('tool') });
  log.keyUsed(principal as never);
  await log.stop();
  expect(records.filter(({ call }) => call?.calls === 1)).toHaveLength(2500);
  expect(records.filter(({ call }) => call === undefined)).toHaveLength(1);
});
