import { setTimeout as pause } from 'node:timers/promises';
import { event } from '../../contracts/bus/messages.ts';
import { type EventKind, patterns, tokensOf } from '../../contracts/bus/subjects.ts';
import { findId, type UserId, type WorkspaceId } from '../../contracts/ids.ts';
import type { Subscription } from '../../kit/bus/bus.ts';
import { signedOut } from '../accounts/browser-sessions.ts';
import { parseBody } from '../bus/wire.ts';
import type { WithBus } from '../bus/with-bus.ts';
import type { Node, WithGraph } from '../graph/graph.ts';
import { getAccess } from '../members/access.ts';
import type { UserPrincipal } from '../tokens/verify-token.ts';
import { Follower, type SeenChange } from './follower.ts';

/** The end of a session or a membership whose message was lost is noticed after this. */
const checkEveryMs = 15_000;
/** A burst of changes reaches a page as one of each kind in this period; the first one at once. */
const restMs = 100;
const eventMaxBytes = 4096;

export interface FeedNeeds extends WithBus, WithGraph {
  readonly isSignedIn: (principal: UserPrincipal) => Promise<boolean>;
}

/** Tells open pages that something changed. It is a hint: a page then asks for what it shows. */
export class ChangeFeed {
  readonly #backend: FeedNeeds;
  readonly #ofWorkspace = new Map<WorkspaceId, Set<Follower>>();
  readonly #ofUser = new Map<UserId, Set<Follower>>();
  readonly #listening: readonly Subscription[];

  constructor(backend: FeedNeeds) {
    this.#backend = backend;
    this.#listening = [
      backend.bus.subscribe(patterns.events, ({ subject, payload }) => this.#changed(subject, payload)),
      backend.bus.subscribe(patterns.accounts, ({ subject }) => this.#accountChanged(subject)),
    ];
  }

  /**
   * The changes of a workspace and of the person's account. The first one has the present versions of the workspace, so
   * that a page knows whether what it read before is still true. Ends with the signal, and throws when the session or
   * the membership ends.
   */
  async *follow(
    principal: UserPrincipal,
    workspace: WorkspaceId | null,
    signal: AbortSignal,
  ): AsyncGenerator<SeenChange, void, undefined> {
    const follower = new Follower(principal, workspace);
    this.#add(follower);
    const checking = setInterval(() => follower.check(), checkEveryMs);
    const wake = () => follower.wake();
    signal.addEventListener('abort', wake);
    try {
      const opened = await this.#open(follower);
      if (opened !== null) yield catalogueAt(opened);
      while (!signal.aborted) {
        const { mustCheck, changes } = await follower.take();
        if (signal.aborted) return;
        if (mustCheck || changes.length > 0) await this.#open(follower);
        yield* changes;
        await pause(restMs);
      }
    } finally {
      clearInterval(checking);
      signal.removeEventListener('abort', wake);
      this.#remove(follower);
    }
  }

  async stop(): Promise<void> {
    for (const subscription of this.#listening) await subscription.stop();
  }

  #changed(subject: string, payload: Uint8Array): void {
    const [, , named = '', kind] = tokensOf(patterns.events, subject) ?? [];
    const workspace = findId('workspace', named);
    const followers = workspace === null ? undefined : this.#ofWorkspace.get(workspace);
    if (followers === undefined) return;
    const { version: revision, statusVersion: statusRevision } = parseBody(event, payload, eventMaxBytes);
    for (const follower of followers) follower.add({ kind: kind as EventKind, revision, statusRevision });
  }

  #accountChanged(subject: string): void {
    const [, , named = ''] = tokensOf(patterns.accounts, subject) ?? [];
    const user = findId('user', named);
    if (user === null) return;
    for (const follower of this.#ofUser.get(user) ?? []) {
      follower.add({ kind: 'account', revision: null, statusRevision: null });
    }
  }

  /** Throws when the person may no longer see the workspace. */
  async #open({ principal, workspace }: Follower): Promise<Node<'workspace'> | null> {
    if (!(await this.#backend.isSignedIn(principal))) throw signedOut();
    if (workspace === null) return null;
    return (await getAccess(this.#backend.graph, { principal, workspace, right: 'read' })).workspace;
  }

  #add(follower: Follower): void {
    addTo(this.#ofUser, follower.principal.user, follower);
    if (follower.workspace !== null) addTo(this.#ofWorkspace, follower.workspace, follower);
  }

  #remove(follower: Follower): void {
    removeFrom(this.#ofUser, follower.principal.user, follower);
    if (follower.workspace !== null) removeFrom(this.#ofWorkspace, follower.workspace, follower);
  }
}

function catalogueAt({ revision, statusRevision }: Node<'workspace'>): SeenChange {
  return { kind: 'catalogue', revision, statusRevision };
}

function addTo<Key>(followers: Map<Key, Set<Follower>>, key: Key, follower: Follower): void {
  const present = followers.get(key);
  if (present === undefined) followers.set(key, new Set([follower]));
  else present.add(follower);
}

function removeFrom<Key>(followers: Map<Key, Set<Follower>>, key: Key, follower: Follower): void {
  const present = followers.get(key);
  present?.delete(follower);
  if (present?.size === 0) followers.delete(key);
}
