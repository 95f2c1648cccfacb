import type { WorkspaceId } from '../../contracts/ids.ts';
import type { UserPrincipal } from '../tokens/verify-token.ts';

/** What one open page follows, and the news that it has not been told yet. */
export class Follower<News> {
  readonly principal: UserPrincipal;
  readonly workspace: WorkspaceId | null;
  /** The latest of each subject. */
  readonly #waiting = new Map<string, News>();
  #mustCheck = false;
  #awake = Promise.withResolvers<void>();

  constructor(principal: UserPrincipal, workspace: WorkspaceId | null) {
    this.principal = principal;
    this.workspace = workspace;
  }

  add(subject: string, news: News): void {
    this.#waiting.set(subject, news);
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
  async take(): Promise<{ readonly mustCheck: boolean; readonly news: readonly News[] }> {
    await this.#awake.promise;
    this.#awake = Promise.withResolvers();
    const taken = { mustCheck: this.#mustCheck, news: [...this.#waiting.values()] };
    this.#mustCheck = false;
    this.#waiting.clear();
    return taken;
  }
}
