import type { SessionId, WorkspaceId } from '../../contracts/ids.ts';
import { giveWay } from '../../kit/give-way.ts';
import type { Catalogues } from '../catalogue/catalogues.ts';
import type { Session } from '../sessions/session.ts';
import type { OpenStream, SessionStreams } from '../sessions/session-streams.ts';
import { listedInNoOrder, type View } from './view.ts';

const listChanged = '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}';

export interface ListChangesOptions {
  readonly catalogues: Catalogues;
  readonly streams: SessionStreams;
}

/** Notifies sessions with a stream open here when their list of tools differs from the last one they saw. */
export class ListChanges {
  readonly #options: ListChangesOptions;

  constructor(options: ListChangesOptions) {
    this.#options = options;
  }

  /** A request, here or elsewhere, changed what the session sees. */
  ofSession(session: SessionId): void {
    const opened = this.#options.streams.newestOf(session);
    if (opened !== null) this.#compare(opened);
  }

  /** The catalogue of a workspace, or the availability of its skills, has changed. */
  async ofWorkspace(workspace: WorkspaceId): Promise<void> {
    await this.#ofOpenStreams((session) => session.workspace === workspace);
  }

  async ofAll(): Promise<void> {
    await this.#ofOpenStreams(() => true);
  }

  async #ofOpenStreams(matches: (session: Session) => boolean): Promise<void> {
    for (const opened of [...this.#options.streams.newestOfEach()]) {
      await giveWay();
      if (matches(opened.session)) this.#compare(opened);
    }
  }

  #compare({ session, principal, stream }: OpenStream): void {
    const catalogue = this.#options.catalogues.peek(session.workspace);
    if (catalogue === null || !stream.isOpen) return;
    const present = fingerprint({ catalogue, principal, session });
    if (present !== session.listed && stream.notify(listChanged)) session.listed = present;
  }
}

/** Equal for equal lists, in one number, because every session keeps one. */
export function fingerprint(view: View): number {
  let sum = 0;
  for (const tool of listedInNoOrder(view)) sum = (sum + tool.hash) % 2 ** 48;
  return sum;
}
