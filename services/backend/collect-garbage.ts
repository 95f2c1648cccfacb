import type { Subscription } from '../kit/bus/bus.ts';
import { removeExpired } from './accounts/remove-expired.ts';
import type { ChangeNeeds } from './activity/change.ts';
import { forgetHistory } from './activity/forget-history.ts';
import type { WithConfig, WithLog } from './bus/with-bus.ts';
import type { WithBlobs } from './files/blobs.ts';
import { removeUnused } from './files/keep-blobs.ts';
import { forgetMail } from './mail/mail-state.ts';
import { removeExpiredInvitations } from './workspaces/invitations.ts';
import { continueRemovals } from './workspaces/remove-workspace.ts';
import type { WithTokenRevocation } from './workspaces/token-revocation.ts';

const everyMs = 10 * 60_000;
const dayMs = 24 * 60 * 60 * 1000;

type GarbageCollected = ChangeNeeds & WithBlobs & WithLog & WithTokenRevocation & WithConfig<'HISTORY_DAYS'>;

/** Regularly removes bytes that no file uses, what is expired of sessions, invitations, history and mail, and the rest of removed workspaces. Several backends may do so concurrently. */
export function collectGarbage(backend: GarbageCollected): Subscription {
  const logger = backend.log('garbage');
  const stopping = new AbortController();
  let running: Promise<void> | null = null;
  const timer = setInterval(() => {
    running ??= collect(backend, stopping.signal)
      .catch((thrown: unknown) =>
        logger.warn({ err: thrown }, 'could not remove unused files and old history, and will try again'),
      )
      .finally(() => {
        running = null;
      });
  }, everyMs).unref();
  return {
    async stop() {
      clearInterval(timer);
      stopping.abort();
      await running;
    },
  };
}

async function collect(backend: GarbageCollected, signal: AbortSignal): Promise<void> {
  await continueRemovals(backend, signal);
  const now = Date.now();
  await removeExpired(backend.graph, now, signal);
  await removeExpiredInvitations(backend.graph, now, signal);
  await removeUnused(backend, { now, signal });
  await forgetMail(backend.graph, now, signal);
  await forgetHistory(backend.graph, now - backend.config.HISTORY_DAYS * dayMs, signal);
}
