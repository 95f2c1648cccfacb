import type { AttentionQuery } from '../graphql/generated/operations.ts';

/** Something of the workspace that does not work, or will soon not work. */
export interface Concern {
  /** Unique among the concerns. */
  readonly id: string;
  readonly tone: 'bad' | 'warn';
  readonly title: string;
  readonly reason: string;
  /** Whether the person may mend it. */
  readonly isMine: boolean;
  /** Where it is mended. */
  readonly place: ConcernPlace;
  /** The id of the object whose panel opens there. */
  readonly panel: string;
  readonly action: string;
}

export type ConcernPlace =
  | '/w/$workspace/settings/mcp-servers'
  | '/w/$workspace/settings/integrations'
  | '/w/$workspace/settings/runtimes'
  | '/w/$workspace/profile/api-keys';

export type Attention = NonNullable<AttentionQuery['workspace']>;

interface Reader {
  readonly mayConfigure: boolean;
  readonly now: number;
}

/** A person has time to give an agent another key. */
const soonMs = 7 * 24 * 60 * 60 * 1000;

/** Those that the person may mend come first. */
export function concernsOf(answer: Attention, { mayConfigure, now }: Reader): Concern[] {
  const { mcpServers, integrations, runtimes, ownKeys } = answer;
  const failing = new Set(mcpServers.nodes.map(({ id }) => id));
  const concerns = [
    ...mcpServers.nodes.map((server) => ofServer(server, mayConfigure)),
    // An MCP server that fails for it says so itself.
    ...integrations.nodes
      .filter(({ mcpServer }) => mcpServer !== null && !failing.has(mcpServer.id))
      .map((integration) => ofIntegration(integration, mayConfigure)),
    ...runtimes.nodes.filter(({ available }) => !available).map((runtime) => ofRuntime(runtime, mayConfigure)),
    ...ofKeys(ownKeys, now),
  ];
  return concerns.toSorted((one, other) => Number(other.isMine) - Number(one.isMine));
}

/** Whether there may be more than `concernsOf` lists. */
export function hasMoreConcerns({ mcpServers, integrations }: Attention): boolean {
  return mcpServers.pageInfo.next != null || integrations.pageInfo.next != null;
}

function ofServer(
  { id, name, status, reason, integration }: Attention['mcpServers']['nodes'][number],
  isMine: boolean,
): Concern {
  const found = {
    id,
    tone: 'bad',
    title: `The MCP server ${name} is ${status}`,
    reason: reason?.message ?? '',
    isMine,
  } as const;
  if (reason?.code === 'needs_authorization' && integration != null) {
    const place = '/w/$workspace/settings/integrations';
    return { ...found, place, panel: integration.id, action: isMine ? 'Connect' : 'Show' };
  }
  return { ...found, place: '/w/$workspace/settings/mcp-servers', panel: id, action: isMine ? 'Repair' : 'Show' };
}

function ofIntegration(
  { id, mcpServer, problem }: Attention['integrations']['nodes'][number],
  isMine: boolean,
): Concern {
  return {
    ...{ id, tone: 'bad', title: `The integration of ${mcpServer?.name ?? id} is expired`, isMine, panel: id },
    reason: problem?.message ?? 'Its MCP server is refused until somebody connects it again.',
    ...{ place: '/w/$workspace/settings/integrations', action: isMine ? 'Reconnect' : 'Show' },
  };
}

function ofRuntime({ id, name }: Attention['runtimes']['nodes'][number], isMine: boolean): Concern {
  return {
    ...{ id, tone: 'bad', title: `The runtime ${name} is unavailable`, isMine, panel: id },
    ...{ reason: 'The MCP servers that are bound to it do not run.', action: isMine ? 'Repair' : 'Show' },
    place: '/w/$workspace/settings/runtimes',
  };
}

function ofKeys(keys: Attention['ownKeys'], now: number): readonly Concern[] {
  const replaced = new Set(keys.map(({ replaces }) => replaces?.id));
  return keys.flatMap(({ id, name, client, state, expiresAt }): Concern[] => {
    if (client != null || expiresAt == null || expiresAt - now > soonMs || replaced.has(id)) return [];
    const isExpired = state === 'expired';
    return [
      {
        ...{ id, isMine: true, panel: id, place: '/w/$workspace/profile/api-keys' },
        tone: isExpired ? 'bad' : 'warn',
        title: isExpired ? `Your key ${name} is Expired` : `Your key ${name} expires ${dayWords.format(expiresAt)}`,
        reason: isExpired ? 'Agents with it are refused.' : 'From then on, agents with it are refused.',
        action: 'Change expiry',
      },
    ];
  });
}

const dayWords = new Intl.DateTimeFormat('en', { weekday: 'long', day: 'numeric', month: 'long' });
