import type { WorkspaceId } from '../../contracts/ids.ts';
import { giveWay } from '../../kit/give-way.ts';
import type { Catalogues } from '../catalogue/catalogues.ts';
import type { Session } from '../sessions/session.ts';
import type { SessionMessages } from '../sessions/session-messages.ts';
import type { SessionStreams } from '../sessions/session-streams.ts';
import { listedTools, type View } from './view.ts';

const listChanged = '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}';

export interface ListChangesOptions {
  readonly catalogues: Catalogues;
  readonly streams: SessionStreams;
  readonly messages: SessionMessages;
}

/** Tells sessions that their list of tools is another than the one they know, on a stream they have open here or elsewhere. */
export class ListChanges {
  readonly #options: ListChangesOptions;

  constructor(options: ListChangesOptions) {
    this.#options = options;
  }

  /** The session's own request changed what it sees. */
  ofSession(view: View & { readonly session: Session }): void {
    const { session } = view;
    const present = fingerprint(view);
    if (present === session.listed) return;
    if (this.#options.streams.notify(session.id, listChanged)) session.listed = present;
    else this.#options.messages.tell(session.id, { kind: 'list_changed' });
  }

  /** A workspace has another catalogue, or what it can do now has changed. */
  async ofWorkspace(workspace: WorkspaceId): Promise<void> {
    await this.#ofOpenStreams((session) => session.workspace === workspace);
  }

  async ofAll(): Promise<void> {
    await this.#ofOpenStreams(() => true);
  }

  /** Somebody else changed the session, whose stream may be here. */
  fromElsewhere(session: Session): void {
    session.listed = null;
    this.#options.streams.notify(session.id, listChanged);
  }

  async #ofOpenStreams(matches: (session: Session) => boolean): Promise<void> {
    for (const { session, principal, stream } of [...this.#options.streams.newestOfEach()]) {
      await giveWay();
      if (!matches(session) || !stream.isOpen) continue;
      const catalogue = this.#options.catalogues.peek(session.workspace);
      if (catalogue === null) continue;
      const present = fingerprint({ catalogue, principal, session });
      if (present !== session.listed && stream.notify(listChanged)) session.listed = present;
    }
  }
}

/** Equal for equal lists, in one number, because every session keeps one. */
export function fingerprint(view: View): number {
  let sum = 0;
  for (const tool of listedTools(view)) sum = (sum + tool.hash) % 2 ** 48;
  return sum;
}
