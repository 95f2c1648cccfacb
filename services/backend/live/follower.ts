import type { EventKind } from '../../contracts/bus/subjects.ts';
import type { WorkspaceId } from '../../contracts/ids.ts';
import type { UserPrincipal } from '../tokens/verify-token.ts';

/** What changed: something of the workspace, or of the person's own account. */
export interface SeenChange {
  readonly kind: EventKind | 'account';
  /** The workspace's versions after the change; null for a change of the account. */
  readonly revision: number | null;
  readonly statusRevision: number | null;
}

/** One open page, and the changes that it has not been told yet. */
export class Follower {
  readonly principal: UserPrincipal;
  readonly workspace: WorkspaceId | null;
  /** The latest of each kind. */
  readonly #waiting = new Map<SeenChange['kind'], SeenChange>();
  #mustCheck = false;
  #awake = Promise.withResolvers<void>();

  constructor(principal: UserPrincipal, workspace: WorkspaceId | null) {
    this.principal = principal;
    this.workspace = workspace;
  }

  add(change: SeenChange): void {
    this.#waiting.set(change.kind, change);
    this.wake();
  }

  /** The session and the membership must be looked up before anything is told. */
  check(): void {
    this.#mustCheck = true;
    this.wake();
  }

  wake(): void {
    this.#awake.resolve();
  }

  /** Waits until there is something to do. */
  async take(): Promise<{ readonly mustCheck: boolean; readonly changes: readonly SeenChange[] }> {
    await this.#awake.promise;
    this.#awake = Promise.withResolvers();
    const taken = { mustCheck: this.#mustCheck, changes: [...this.#waiting.values()] };
    this.#mustCheck = false;
    this.#waiting.clear();
    return taken;
  }
}
