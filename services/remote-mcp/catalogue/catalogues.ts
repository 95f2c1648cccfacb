import type { event } from '../../contracts/bus/messages.ts';
import { SvcError } from '../../contracts/errors.ts';
import type { WorkspaceId } from '../../contracts/ids.ts';
import type { Logger } from '../../kit/log.ts';
import type { Catalogue } from './catalogue.ts';
import type { CatalogueRequest, Pulled } from './pull.ts';
import { WorkspaceCatalogue } from './workspace-catalogue.ts';

export interface CataloguesOptions {
  readonly pull: (workspace: WorkspaceId, asked: CatalogueRequest, signal: AbortSignal) => Promise<Pulled>;
  readonly onChange: (present: Catalogue) => void;
  readonly log: Logger;
}

/** A workspace that is unused for this long is forgotten. */
const unusedMs = 10 * 60_000;
const sweepEveryMs = 60_000;
/** Workspaces in use at once; each may hold thousands of tools. */
const workspacesMax = 1000;
/** The longest time that an agent waits for the first pull of its workspace. */
const firstPullDeadlineMs = 10_000;

/** The catalogues of all workspaces that agents use here. */
export class Catalogues {
  readonly #options: CataloguesOptions;
  readonly #workspaces = new Map<WorkspaceId, WorkspaceCatalogue>();
  #timer: NodeJS.Timeout | null = null;

  constructor(options: CataloguesOptions) {
    this.#options = options;
  }

  start(): void {
    this.#timer = setInterval(() => this.#sweep(performance.now()), sweepEveryMs).unref();
  }

  /** Returns no promise if the catalogue is known. Throws `unavailable`. */
  of(workspace: WorkspaceId): Catalogue | Promise<Catalogue> {
    const known = this.#workspaces.get(workspace) ?? this.#add(workspace);
    known.usedAt = performance.now();
    return known.current ?? withinDeadline(known.load());
  }

  /** The catalogue if it is known. Otherwise null, and its arrival is reported as a change. */
  now(workspace: WorkspaceId): Catalogue | null {
    const loading = this.of(workspace);
    if (!(loading instanceof Promise)) return loading;
    loading.catch(() => undefined);
    return null;
  }

  /** Keeps a workspace that has listeners but no requests. */
  keep(workspace: WorkspaceId): void {
    const known = this.#workspaces.get(workspace);
    if (known !== undefined) known.usedAt = performance.now();
  }

  /** The catalogue if it is known, without a pull. */
  peek(workspace: WorkspaceId): Catalogue | null {
    return this.#workspaces.get(workspace)?.current ?? null;
  }

  /** Handles an event that announces a newer version of a workspace. */
  changed(workspace: WorkspaceId, { version, statusVersion }: ReturnType<typeof event.parse>): void {
    const known = this.#workspaces.get(workspace);
    const current = known?.current;
    if (current && version <= current.version && statusVersion <= current.statusVersion) return;
    known?.refresh();
  }

  /** Events may have been missed. */
  refreshAll(): void {
    for (const known of this.#workspaces.values()) known.refresh();
  }

  async stop(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    await Promise.all([...this.#workspaces.values()].map((known) => known.stop()));
    this.#workspaces.clear();
  }

  #add(workspace: WorkspaceId): WorkspaceCatalogue {
    if (this.#workspaces.size >= workspacesMax) this.#dropLeastUsed();
    const added = new WorkspaceCatalogue({
      pull: (asked, signal) => this.#options.pull(workspace, asked, signal),
      onChange: this.#options.onChange,
      log: this.#options.log.child({ workspace }),
    });
    this.#workspaces.set(workspace, added);
    return added;
  }

  #dropLeastUsed(): void {
    let oldest: WorkspaceId | null = null;
    let usedAt = Number.POSITIVE_INFINITY;
    for (const [workspace, known] of this.#workspaces) {
      if (known.usedAt >= usedAt) continue;
      oldest = workspace;
      usedAt = known.usedAt;
    }
    if (oldest !== null) this.#drop(oldest);
  }

  #sweep(now: number): void {
    for (const [workspace, known] of this.#workspaces) if (now - known.usedAt > unusedMs) this.#drop(workspace);
  }

  #drop(workspace: WorkspaceId): void {
    void this.#workspaces.get(workspace)?.stop();
    this.#workspaces.delete(workspace);
  }
}

function withinDeadline(loading: Promise<Catalogue>): Promise<Catalogue> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(
        new SvcError(
          'unavailable',
          'The catalogue of this workspace is not loaded yet: the backend is slow to answer.',
          {
            hint: 'Try again shortly.',
          },
        ),
      );
    }, firstPullDeadlineMs);
    loading.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
