import { createHash } from 'node:crypto';
import { usageBatch, usageBatchMaxBytes } from '../../contracts/bus/messages.ts';
import { streams } from '../../contracts/bus/subjects.ts';
import { newId } from '../../contracts/ids.ts';
import type { Subscription } from '../../kit/bus/bus.ts';
import { giveWay } from '../../kit/give-way.ts';
import { publishEvent } from '../activity/change.ts';
import { parseBody } from '../bus/wire.ts';
import type { WithBus, WithLog } from '../bus/with-bus.ts';
import type { Node, Transaction, WithGraph } from '../graph/graph.ts';
import type { LastUsed } from '../keys/last-used.ts';
import { isBeingRemoved } from '../members/access.ts';
import { latestUses, sumUsage, type UsageSum } from './sum-usage.ts';

type UsageNeeds = WithGraph & WithBus & WithLog;

/**
 * Sums the calls and key uses that remote-mcp reports. One backend at a time consumes; another takes over when it
 * stops.
 */
export function consumeUsage(backend: UsageNeeds, lastUsed: LastUsed): Subscription {
  return backend.bus.stream(streams.usage).consume('backend', async (payloads) => {
    for (const payload of payloads) {
      await giveWay();
      await addUp(backend, lastUsed, payload);
    }
  });
}

/** A payload that cannot be read never will be: it is logged and skipped, so that later ones are not blocked. */
async function addUp(backend: UsageNeeds, lastUsed: LastUsed, payload: Uint8Array): Promise<void> {
  const records = parse(backend, payload);
  const sums = sumUsage(records);
  if (sums.length > 0) {
    const counted = await backend.graph.write((transaction) => addOnce(transaction, sums, digestOf(payload)));
    for (const workspace of counted) publishEvent(backend.bus, workspace, 'calls');
  }
  for (const use of latestUses(records)) lastUsed.note(use);
}

function parse(backend: UsageNeeds, payload: Uint8Array) {
  try {
    return parseBody(usageBatch, payload, usageBatchMaxBytes);
  } catch (error) {
    backend.log('usage').error({ err: error, bytes: payload.length }, 'usage records dropped');
    return [];
  }
}

/** Holds the digests of the payloads that were summed last. */
const appliedSetting = 'usage_applied';
/** Far more than the stream delivers before their storage is confirmed. */
const appliedMax = 256;

/**
 * The stream delivers at least once: after a crash, a stored but unacknowledged payload comes again. Its digest,
 * written in the same transaction as its sums, detects that. Different payloads always differ in their bytes, because
 * each record has its time, key and duration. Returns the workspaces whose sums are new.
 */
async function addOnce(
  transaction: Transaction,
  sums: readonly UsageSum[],
  digest: string,
): Promise<readonly Node<'workspace'>[]> {
  const setting = await transaction.findBy('setting', { name: appliedSetting }, null);
  const applied = setting === null || setting.value === '' ? [] : setting.value.split(' ');
  if (applied.includes(digest)) return [];
  const counted: Node<'workspace'>[] = [];
  for (const [workspace, ofOne] of Map.groupBy(sums, (sum) => sum.workspace)) {
    const present = await transaction.find('workspace', workspace, null);
    // Calls may be reported after the workspace was removed.
    if (present === null || isBeingRemoved(present)) continue;
    for (const sum of ofOne) await add(transaction, sum);
    counted.push(present);
  }
  const value = [...applied, digest].slice(-appliedMax).join(' ');
  if (setting === null) await transaction.create('setting', { id: newId('setting'), name: appliedSetting, value });
  else await transaction.update('setting', setting.id, { value }, { anchor: null });
  return counted;
}

async function add(transaction: Transaction, sum: UsageSum): Promise<void> {
  const { workspace, slot, calls, errors } = sum;
  const durationMs = Math.round(sum.durationMs);
  const known = await transaction.findBy('usage', { slot }, workspace);
  if (known === null) {
    await transaction.create('usage', { ...sum, durationMs, id: newId('usage') });
    return;
  }
  const added = {
    calls: known.calls + calls,
    errors: known.errors + errors,
    durationMs: known.durationMs + durationMs,
  };
  await transaction.update('usage', known.id, added, { anchor: workspace });
}

function digestOf(payload: Uint8Array): string {
  return createHash('sha256').update(payload).digest('base64url').slice(0, 22);
}
