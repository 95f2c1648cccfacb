import { event } from '../../contracts/bus/messages.ts';
import { patterns, tokensOf } from '../../contracts/bus/subjects.ts';
import { findId, type SessionId, type WorkspaceId } from '../../contracts/ids.ts';
import type { Bus, Message } from '../../kit/bus/bus.ts';
import { endRefusedCalls } from '../auth/end-refused-calls.ts';
import type { RemoteMcp } from '../context.ts';
import type { Session } from '../sessions/session.ts';
import type { SessionMessage } from '../sessions/session-messages.ts';
import type { BusListener } from './bus-link.ts';

/** What remote-mcp hears on the bus, and what each part makes of it. */
export class Listeners implements BusListener {
  readonly #platform: RemoteMcp;

  constructor(platform: RemoteMcp) {
    this.#platform = platform;
  }

  opened(bus: Bus): void {
    bus.subscribe(patterns.events, (message) => this.#hearEvent(message));
    this.#platform.processes.listen(bus);
    this.#platform.messages.listen(bus, (session, message) => this.#hearOfSession(session, message));
  }

  /** Events may have been missed: nothing that was learnt before counts without being looked at again. */
  connected(): void {
    this.#platform.principals.forgetAll();
    this.#platform.sessions.reconnected();
    this.#platform.catalogues.refreshAll();
    endRefusedCalls(this.#platform.principals, this.#platform.sessions.busy());
  }

  #hearEvent({ subject, payload }: Message): void {
    const [, , workspaceText = '', kind] = tokensOf(patterns.events, subject) ?? [];
    const workspace = findId('workspace', workspaceText);
    if (workspace === null) return;
    const happened = event.parse(JSON.parse(Buffer.from(payload).toString()));
    if (kind === 'key') this.#forgetKey(workspace, happened.key);
    else this.#platform.catalogues.changed(workspace, happened);
  }

  /** Of one key, or of all of the workspace. What is open or under way with it ends, or is checked again. */
  #forgetKey(workspace: WorkspaceId, key: ReturnType<typeof event.parse>['key']): void {
    const { principals, streams, sessions } = this.#platform;
    if (key === undefined) {
      principals.forgetWorkspace(workspace);
      streams.endWorkspace(workspace);
    } else {
      principals.forgetKey(key);
      streams.endKey(key);
    }
    const isMeant = (session: Session) => session.workspace === workspace && (key === undefined || session.key === key);
    endRefusedCalls(principals, sessions.busy().filter(isMeant));
  }

  #hearOfSession(id: SessionId, message: SessionMessage): void {
    const { sessions, listChanges } = this.#platform;
    const session = sessions.peek(id);
    switch (message.kind) {
      // These two concern also who reads its record just now.
      case 'changed':
        sessions.changedElsewhere(id);
        break;
      case 'ended':
        sessions.endHere(id);
        break;
      case 'list_changed':
        if (session !== null) listChanges.fromElsewhere(session);
        break;
      case 'cancel':
        session?.calls?.get(message.request)?.cancel();
    }
  }
}
