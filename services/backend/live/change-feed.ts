import { setTimeout as pause } from 'node:timers/promises';
import { event } from '../../contracts/bus/messages.ts';
import { type EventKind, patterns, tokensOf } from '../../contracts/bus/subjects.ts';
import { findId, type RuntimeId, type UserId, type WorkspaceId } from '../../contracts/ids.ts';
import type { Subscription } from '../../kit/bus/bus.ts';
import { signedOut } from '../accounts/browser-sessions.ts';
import { parseBody } from '../bus/wire.ts';
import type { WithBus } from '../bus/with-bus.ts';
import type { Node, WithGraph } from '../graph/graph.ts';
import { platformHome } from '../graph/platform-home.ts';
import { getAccess } from '../members/access.ts';
import type { WithProcesses } from '../runtimes/processes.ts';
import type { UserPrincipal } from '../tokens/verify-token.ts';
import { Follower } from './follower.ts';

/** The end of a session or a membership whose message was lost is noticed after this. */
const checkEveryMs = 15_000;
/** A burst of news reaches a page as one of each subject in this period; the first one at once. */
const restMs = 100;
const eventMaxBytes = 4096;

export interface FeedNeeds extends WithBus, WithGraph, WithProcesses {
  readonly isSignedIn: (principal: UserPrincipal) => Promise<boolean>;
}

/** What changed: something of the workspace, or of the person's own account. */
export interface SeenChange {
  readonly kind: EventKind | 'account';
  /** The workspace's versions after the change; null for a change of the account. */
  readonly revision: number | null;
  readonly statusRevision: number | null;
}

/**
 * Tells open pages what happens. A change is a hint: a page then asks for what it shows. A heartbeat comes every few
 * seconds and changes nothing that is stored, so its runtime is told as it is.
 */
export class ChangeFeed {
  readonly #backend: FeedNeeds;
  readonly #ofWorkspace = new Map<WorkspaceId, Set<Follower<SeenChange>>>();
  readonly #ofUser = new Map<UserId, Set<Follower<SeenChange>>>();
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
    const follower = new Follower<SeenChange>(principal, workspace);
    this.#add(follower);
    try {
      const opened = await this.#open(follower);
      if (opened !== null) yield catalogueAt(opened);
      yield* this.#newsFor(follower, signal);
    } finally {
      this.#remove(follower);
    }
  }

  /**
   * The runtimes of a workspace and of the platform, each after a sign of life or the end of one of its processes. Ends
   * as `follow` does.
   */
  async *followRuntimes(
    principal: UserPrincipal,
    workspace: WorkspaceId,
    signal: AbortSignal,
  ): AsyncGenerator<Node<'runtime'>, void, undefined> {
    const { graph, processes } = this.#backend;
    const follower = new Follower<RuntimeId>(principal, workspace);
    // Each is looked up once: a runtime never changes its home.
    const ofOthers = new Set<RuntimeId>();
    const stopListening = processes.onChange((runtime) => {
      if (!ofOthers.has(runtime)) follower.add(runtime, runtime);
    });
    try {
      await this.#open(follower);
      for await (const id of this.#newsFor(follower, signal)) {
        const runtime = await graph.find('runtime', id, null);
        if (runtime === null || ![workspace, platformHome].includes(runtime.home)) ofOthers.add(id);
        else if (runtime.revokedAt === null) yield runtime;
      }
    } finally {
      stopListening();
    }
  }

  /** Throws when the session or the membership ends. */
  async *#newsFor<News>(follower: Follower<News>, signal: AbortSignal): AsyncGenerator<News, void, undefined> {
    const checking = setInterval(() => follower.check(), checkEveryMs);
    const wake = () => follower.wake();
    signal.addEventListener('abort', wake);
    try {
      while (!signal.aborted) {
        const { mustCheck, news } = await follower.take();
        if (signal.aborted) return;
        if (mustCheck || news.length > 0) await this.#open(follower);
        yield* news;
        await pause(restMs);
      }
    } finally {
      clearInterval(checking);
      signal.removeEventListener('abort', wake);
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
    const change = { kind: kind as EventKind, revision, statusRevision };
    for (const follower of followers) follower.add(change.kind, change);
  }

  #accountChanged(subject: string): void {
    const [, , named = ''] = tokensOf(patterns.accounts, subject) ?? [];
    const user = findId('user', named);
    if (user === null) return;
    for (const follower of this.#ofUser.get(user) ?? []) {
      follower.add('account', { kind: 'account', revision: null, statusRevision: null });
    }
  }

  /** Throws when the person may no longer see the workspace. */
  async #open({ principal, workspace }: Follower<unknown>): Promise<Node<'workspace'> | null> {
    if (!(await this.#backend.isSignedIn(principal))) throw signedOut();
    if (workspace === null) return null;
    return (await getAccess(this.#backend.graph, { principal, workspace, right: 'read' })).workspace;
  }

  #add(follower: Follower<SeenChange>): void {
    addTo(this.#ofUser, follower.principal.user, follower);
    if (follower.workspace !== null) addTo(this.#ofWorkspace, follower.workspace, follower);
  }

  #remove(follower: Follower<SeenChange>): void {
    removeFrom(this.#ofUser, follower.principal.user, follower);
    if (follower.workspace !== null) removeFrom(this.#ofWorkspace, follower.workspace, follower);
  }
}

function catalogueAt({ revision, statusRevision }: Node<'workspace'>): SeenChange {
  return { kind: 'catalogue', revision, statusRevision };
}

type Followers<Key> = Map<Key, Set<Follower<SeenChange>>>;

function addTo<Key>(followers: Followers<Key>, key: Key, follower: Follower<SeenChange>): void {
  const present = followers.get(key);
  if (present === undefined) followers.set(key, new Set([follower]));
  else present.add(follower);
}

function removeFrom<Key>(followers: Followers<Key>, key: Key, follower: Follower<SeenChange>): void {
  const present = followers.get(key);
  present?.delete(follower);
  if (present?.size === 0) followers.delete(key);
}
