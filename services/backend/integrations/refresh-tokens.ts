import * as openid from 'openid-client';
import type { Subscription } from '../../kit/bus/bus.ts';
import type { Logger } from '../../kit/log.ts';
import { withBugReported } from '../../kit/report-bug.ts';
import { everyPage } from '../graph/every-page.ts';
import { type FieldValues, type Node, pageMax, type Selection } from '../graph/graph.ts';
import { retryDelayMs } from '../mail/mail-sender.ts';
import {
  type Connection,
  findUrl,
  getConnection,
  giveNewToken,
  type IntegrationNeeds,
  isSameUrl,
  noTokens,
  noteByPlatform,
  problem,
} from './integrations.ts';
import { keep, read, type Tokens } from './kept.ts';
import { openidConfiguration } from './provider-client.ts';
import { nextRefreshAt, parseTokens } from './tokens.ts';

const lookEveryMs = 10_000;
/** Longer than one attempt, whose requests have deadlines. */
const claimMs = 60_000;
const atOnce = 16;
/** Then the due ones are searched again, so that new ones do not wait for the end of a long round. */
const roundMaxMs = 30_000;
const retry = { firstRetryMs: 15_000, retryMaxMs: 15 * 60_000 };
/** A provider that is away for longer than this after the token's end has forgotten it. */
const givenUpAfterMs = 24 * 60 * 60_000;

type Changes = FieldValues<'integration'>;

/**
 * Refreshes the tokens of integrations before they expire. A backend claims an integration by its version, so several
 * backends never send one refresh token twice.
 */
export class TokenRefresher {
  readonly #backend: IntegrationNeeds;
  readonly #logger: Logger;
  #working: Promise<void> | null = null;
  #isAgain = false;
  #isRunning = false;

  constructor(backend: IntegrationNeeds) {
    this.#backend = backend;
    this.#logger = backend.log('integrations');
  }

  start(): Subscription {
    this.#isRunning = true;
    const timer = setInterval(() => this.wake(), lookEveryMs).unref();
    this.wake();
    return {
      stop: async () => {
        clearInterval(timer);
        this.#isRunning = false;
        await this.#working;
      },
    };
  }

  wake(): void {
    if (!this.#isRunning) return;
    if (this.#working !== null) {
      this.#isAgain = true;
      return;
    }
    this.#isAgain = false;
    this.#working = this.#work()
      .catch((err: unknown) => this.#logger.warn({ err }, 'could not search for due tokens, and will try again'))
      .finally(() => {
        this.#working = null;
        if (this.#isAgain) this.wake();
      });
  }

  async #work(): Promise<void> {
    while (this.#isRunning) {
      const waiting = await this.#findDue();
      if (waiting.length === 0) return;
      const end = performance.now() + roundMaxMs;
      const worker = async () => {
        while (this.#isRunning && performance.now() < end) {
          const next = waiting.shift();
          if (next === undefined) return;
          await this.#refresh(next);
        }
      };
      await Promise.all(Array.from({ length: atOnce }, worker));
    }
  }

  async #findDue(): Promise<Due[]> {
    const found: Due[] = [];
    for await (const page of everyPage(this.#backend.graph, due())) {
      for (const { id, workspace, version } of page) found.push({ id, workspace, version });
    }
    return inTurns(found);
  }

  async #refresh(found: Due): Promise<void> {
    const { workspace, id } = found;
    try {
      const claimed = await this.#claim(found);
      if (claimed === null) return;
      const changes = await this.#attempt(claimed).catch((thrown: unknown) => {
        withBugReported(thrown, this.#logger);
        return this.#later(claimed.integration, null);
      });
      await noteByPlatform(this.#backend, workspace, async (transaction) => {
        const { server, integration } = await getConnection(transaction, workspace, id);
        // A person has connected or disconnected it meanwhile. Other changes of a person leave the tokens as they were.
        if (integration.tokens !== claimed.integration.tokens) return [];
        await transaction.update('integration', id, changes, { anchor: workspace });
        return changes.tokens === undefined ? [] : await giveNewToken(transaction, server);
      });
    } catch (err) {
      this.#logger.warn({ err, integration: id, workspace }, 'could not store refreshed tokens');
    }
  }

  /** Null when another backend has claimed it. */
  async #claim({ id, workspace, version }: Due): Promise<Connection | null> {
    return await this.#backend.graph.write(async (transaction) => {
      const known = await transaction.find('integration', id, workspace);
      if (known === null || known.version !== version) return null;
      const { server } = await getConnection(transaction, workspace, id);
      const changes = { dueAt: Date.now() + claimMs };
      return { server, integration: await transaction.update('integration', id, changes, { anchor: workspace }) };
    });
  }

  async #attempt({ integration, server }: Connection): Promise<Changes> {
    const tokens = read(this.#backend, integration, 'tokens');
    if (tokens === null) return { dueAt: null };
    const url = findUrl(this.#backend, server);
    if (url === null || !isSameUrl(url, new URL(tokens.url))) return ended('needs_authorization', movedReason);
    const { host } = new URL(tokens.provider.issuer);
    if (tokens.refreshToken === null) return ended('expired', expiredReason(host));
    try {
      const received = parseTokens(await this.#ask(tokens, tokens.refreshToken), tokens);
      this.#logger.debug({ integration: integration.id }, 'refreshed the tokens of an integration');
      return {
        ...{ tokens: keep(this.#backend, integration, 'tokens', received.kept), problem: null, attempts: 0 },
        ...{ expiresAt: received.expiresAt, dueAt: nextRefreshAt(received), refreshedAt: Date.now() },
        ...(received.scopes === null ? {} : { scopes: JSON.stringify(received.scopes) }),
      };
    } catch (thrown) {
      const isRefused = thrown instanceof openid.ResponseBodyError && finalErrors.includes(thrown.error);
      const level = isRefused ? 'warn' : 'info';
      const error = thrown instanceof openid.ResponseBodyError ? { status: thrown.status } : {};
      this.#logger[level](
        { integration: integration.id, host, ...error },
        'could not refresh the tokens of an integration',
      );
      return isRefused ? ended('expired', expiredReason(host)) : this.#later(integration, host);
    }
  }

  #ask(tokens: Tokens, refreshToken: string) {
    const { fetch } = this.#backend.integrations;
    const configuration = openidConfiguration(fetch, tokens.provider, tokens.client);
    return openid.refreshTokenGrant(configuration, refreshToken, { resource: tokens.resource });
  }

  #later({ attempts, expiresAt }: Node<'integration'>, host: string | null): Changes {
    const now = Date.now();
    if (expiresAt !== null && now > expiresAt + givenUpAfterMs) return ended('expired', expiredReason(host));
    const dueAt = now + retryDelayMs(attempts + 1, retry);
    return { attempts: attempts + 1, dueAt, problem: problem(unreachableReason(host)) };
  }
}

type Due = Pick<Node<'integration'>, 'id' | 'workspace' | 'version'>;

/** Workspaces take turns: one whose providers are slow delays another by one attempt only. */
function inTurns(found: readonly Due[]): Due[] {
  const counts = new Map<string, number>();
  const withTurns = found.map((one) => {
    const turn = counts.get(one.workspace) ?? 0;
    counts.set(one.workspace, turn + 1);
    return { one, turn };
  });
  return withTurns.toSorted((a, b) => a.turn - b.turn).map(({ one }) => one);
}

function due(): Selection<'integration'> {
  const where = [
    { field: 'state', equals: 'connected' },
    { field: 'dueAt', below: Date.now() + 1 },
  ] as const;
  return { type: 'integration', anchor: 'everywhere', where, limit: pageMax };
}

/** RFC 6749 §5.2: the refresh token or the client is refused for good. */
const finalErrors: readonly string[] = ['invalid_grant', 'invalid_client', 'unauthorized_client', 'invalid_scope'];

function ended(state: 'expired' | 'needs_authorization', reason: Parameters<typeof problem>[0]): Changes {
  return { ...noTokens, state, problem: problem(reason) };
}

const reconnect = 'Reconnect it: Workspace settings > Integrations';
const movedReason = {
  code: 'url_changed',
  message: 'The URL of the MCP server was changed, so its token is not used any more.',
  repair: 'Connect it again: Workspace settings > Integrations',
};

function expiredReason(host: string | null) {
  return {
    code: 'token_expired',
    message: `The OAuth token of ${host ?? 'the provider'} has expired, and could not be renewed.`,
    repair: reconnect,
  };
}

function unreachableReason(host: string | null) {
  return {
    code: 'refresh_failed',
    message: `${host ?? 'The provider'} did not renew the OAuth token. The platform tries again.`,
    repair: reconnect,
  };
}
