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
import { RuntimeHomes } from './runtime-homes.ts';

/** The end of a session or a membership whose message was lost is noticed after this. */
const checkEveryMs = 15_000;
/** A burst of news reaches a page as one of each subject in this period; the first one at once. */
const restMs = 100;
/** For all pages of a person together: the backend reads and writes each message for its page. */
const newsPerSecond = 500;
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
  readonly #ofRuntimes = new Map<WorkspaceId, Set<Follower<RuntimeId>>>();
  /** All that a person follows. */
  readonly #byPerson = new Map<UserId, Set<Follower<unknown>>>();
  readonly #homes: RuntimeHomes;
  readonly #listening: readonly Subscription[];
  readonly #stopHearing: () => void;

  constructor(backend: FeedNeeds) {
    this.#backend = backend;
    this.#homes = new RuntimeHomes(backend);
    this.#stopHearing = backend.processes.onChange((runtime) => void this.#runtimeChanged(runtime));
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
    const follower = new Follower<RuntimeId>(principal, workspace);
    addTo(this.#ofRuntimes, workspace, follower);
    try {
      await this.#open(follower);
      for await (const id of this.#newsFor(follower, signal)) {
        const runtime = await this.#backend.graph.find('runtime', id, null);
        if (runtime?.revokedAt === null) yield runtime;
      }
    } finally {
      removeFrom(this.#ofRuntimes, workspace, follower);
    }
  }

  /** Throws when the session or the membership ends. */
  async *#newsFor<News>(follower: Follower<News>, signal: AbortSignal): AsyncGenerator<News, void, undefined> {
    const { user } = follower.principal;
    const checking = setInterval(() => follower.check(), checkEveryMs);
    const wake = () => follower.wake();
    signal.addEventListener('abort', wake);
    addTo(this.#byPerson, user, follower);
    let checkedAt = Number.NEGATIVE_INFINITY;
    const check = async () => {
      // A page that reads slowly may take its news long after they were looked at.
      if (performance.now() - checkedAt < restMs) return;
      await this.#open(follower);
      checkedAt = performance.now();
    };
    try {
      while (!signal.aborted) {
        const { mustCheck, news } = await follower.take();
        if (signal.aborted) return;
        if (mustCheck) await check();
        for (const one of news) {
          await check();
          yield one;
          await rest(this.#paceMs(user), signal);
        }
        await rest(restMs, signal);
      }
    } finally {
      clearInterval(checking);
      signal.removeEventListener('abort', wake);
      removeFrom(this.#byPerson, user, follower);
    }
  }

  /** At random, so that the pages of a person are not told all at the same moment. */
  #paceMs(user: UserId): number {
    const followed = this.#byPerson.get(user)?.size ?? 0;
    return (0.5 + Math.random()) * followed * (1000 / newsPerSecond);
  }

  async stop(): Promise<void> {
    this.#stopHearing();
    for (const subscription of this.#listening) await subscription.stop();
  }

  async #runtimeChanged(runtime: RuntimeId): Promise<void> {
    if (this.#ofRuntimes.size === 0) return;
    const home = await this.#homes.find(runtime);
    if (home === null) return;
    const told = home === platformHome ? [...this.#ofRuntimes.values()] : [this.#ofRuntimes.get(home)];
    for (const followers of told) for (const follower of followers ?? []) follower.add(runtime, runtime);
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

type Followers<Key, News> = Map<Key, Set<Follower<News>>>;

function addTo<Key, News>(followers: Followers<Key, News>, key: Key, follower: Follower<News>): void {
  const present = followers.get(key);
  if (present === undefined) followers.set(key, new Set([follower]));
  else present.add(follower);
}

function removeFrom<Key, News>(followers: Followers<Key, News>, key: Key, follower: Follower<News>): void {
  const present = followers.get(key);
  present?.delete(follower);
  if (present?.size === 0) followers.delete(key);
}

async function rest(ms: number, signal: AbortSignal): Promise<void> {
  await pause(ms, undefined, { signal }).catch(() => undefined);
}
