import { z } from 'zod';
import { hourMs } from '../services/contracts/usage-hour.ts';
import { pagesOf } from '../stack/client/every-page.ts';
import {
  type ActivityQuery,
  activityQuery,
  type UsageQuery,
  usageQuery,
} from '../stack/client/generated/operations.ts';
import type { Tenancy } from './objects/platform.ts';

/** A change by a person, or the calls that an agent made in one hour. */
export type HistoryEntry =
  | {
      readonly kind: 'change';
      readonly at: number;
      readonly by: string;
      readonly action: string;
      readonly subjectKind: string;
      readonly subject: string;
      /** What changed, by field. Never a secret. */
      readonly changes: Readonly<Record<string, unknown>>;
    }
  | ({ readonly kind: 'calls'; readonly at: number } & Calls);

export interface Calls {
  /** Name of the key. */
  readonly by: string;
  readonly tool: string;
  readonly skill: string | null;
  readonly mcpServer: string;
  readonly calls: number;
  readonly errors: number;
  readonly durationMs: number;
}

export interface Stretch {
  /** Earlier entries are left out. */
  readonly from: number;
  readonly entriesMax: number;
}

/** Changes and calls, the latest first. */
export async function fetchHistory(tenancy: Tenancy, stretch: Stretch): Promise<readonly HistoryEntry[]> {
  const [changes, calls] = await Promise.all([fetchChanges(tenancy, stretch), fetchHours(tenancy, stretch)]);
  return [...changes, ...calls].sort((one, other) => other.at - one.at).slice(0, stretch.entriesMax);
}

type ActivityNode = NonNullable<ActivityQuery['workspace']>['activity']['nodes'][number];

async function fetchChanges({ backend, workspace }: Tenancy, { from, entriesMax }: Stretch): Promise<HistoryEntry[]> {
  const found: ActivityNode[] = [];
  const pages = pagesOf(
    async (page) => (await backend.send(activityQuery, { workspace: workspace.id, ...page })).workspace?.activity,
  );
  for await (const page of pages) {
    found.push(...page.filter(({ at }) => at >= from));
    if (found.length >= entriesMax || page.some(({ at }) => at < from)) break;
  }
  return found.slice(0, entriesMax).map(({ at, actorName, action, subjectKind, subjectName, changes }) => {
    return { kind: 'change', at, by: actorName, action, subjectKind, subject: subjectName, changes: parsed(changes) };
  });
}

async function fetchHours(tenancy: Tenancy, { from, entriesMax }: Stretch): Promise<HistoryEntry[]> {
  const found: HistoryEntry[] = [];
  for await (const page of usagePages(tenancy, from)) {
    found.push(...page.map((row) => ({ kind: 'calls' as const, at: row.hour, ...callsOf(row) })));
    if (found.length >= entriesMax) break;
  }
  return found.slice(0, entriesMax);
}

type UsageRow = NonNullable<UsageQuery['workspace']>['usage']['nodes'][number];

/** The hours since `from`, the latest first. The hour that `from` lies in counts. */
function usagePages({ backend, workspace }: Tenancy, from: number) {
  const hour = from - (from % hourMs);
  return pagesOf(
    async (page) => (await backend.send(usageQuery, { workspace: workspace.id, from: hour, ...page })).workspace?.usage,
  );
}

function callsOf({ key, tool, skill, mcpServer, calls, errors, durationMs }: UsageRow): Calls {
  return { by: key, tool, skill, mcpServer, calls, errors, durationMs };
}

/** What usage is added up by. */
export const usageGroups = ['tool', 'key', 'skill', 'server'] as const;
export type UsageGroup = (typeof usageGroups)[number];

export interface UsageSum {
  readonly name: string;
  readonly calls: number;
  readonly errors: number;
  readonly durationMs: number;
}

/** Calls since `from`, the most called first. */
export async function sumUsage(tenancy: Tenancy, by: UsageGroup, from: number): Promise<readonly UsageSum[]> {
  const sums = new Map<string, UsageSum>();
  for await (const page of usagePages(tenancy, from)) {
    for (const row of page) {
      const name = names[by](row);
      const { calls, errors, durationMs } = sums.get(name) ?? { calls: 0, errors: 0, durationMs: 0 };
      const sum = { calls: calls + row.calls, errors: errors + row.errors, durationMs: durationMs + row.durationMs };
      sums.set(name, { name, ...sum });
    }
  }
  return [...sums.values()].sort((one, other) => other.calls - one.calls);
}

const names: Readonly<Record<UsageGroup, (row: UsageRow) => string>> = {
  tool: ({ tool }) => tool,
  key: ({ key }) => key,
  skill: ({ skill }) => skill ?? 'no skill',
  server: ({ mcpServer }) => mcpServer,
};

const changesOfEntry = z.record(z.string(), z.unknown());

function parsed(text: string): Readonly<Record<string, unknown>> {
  return changesOfEntry.parse(JSON.parse(text));
}
