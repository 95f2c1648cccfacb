import { event } from '../contracts/bus/messages.ts';
import { patterns, tokensOf } from '../contracts/bus/subjects.ts';
import { findId, type SessionId, type WorkspaceId } from '../contracts/ids.ts';
import type { Bus, Message } from '../kit/bus/bus.ts';
import { type Admitted, Rechecks } from './auth/rechecks.ts';
import { Backlog } from './bus/backlog.ts';
import type { BusListener } from './bus/bus-link.ts';
import type { RemoteMcp } from './context.ts';
import type { Session } from './sessions/session.ts';
import type { SessionMessage } from './sessions/session-messages.ts';

/** A record that could not be read is read again after this long. */
const readAgainMs = 5000;

/** Subscribes to the bus, and passes each message to the parts that it concerns. */
export class Listeners implements BusListener {
  readonly #platform: RemoteMcp;
  readonly #rechecks: Rechecks;
  /** Sessions in use here whose record may have changed. */
  readonly #outdated: Backlog<Session>;

  constructor(platform: RemoteMcp) {
    this.#platform = platform;
    this.#rechecks = new Rechecks(platform.principals);
    this.#outdated = new Backlog({ againMs: readAgainMs, work: (session) => this.#catchUp(session) });
  }

  opened(bus: Bus): void {
    bus.subscribe(patterns.events, (message) => this.#hearEvent(message));
    bus.subscribe(patterns.accounts, (message) => this.#hearOfPerson(message));
    this.#platform.processes.listen(bus);
    this.#platform.messages.listen(bus, (session, message) => this.#hearOfSession(session, message));
  }

  /** Events may have been missed: all cached data is checked again. */
  connected(): void {
    const { principals, sessions, catalogues, streams } = this.#platform;
    principals.forgetAll();
    sessions.reconnected();
    catalogues.refreshAll();
    this.#rechecks.add([...callsOf(sessions.busy()), ...streams.all()]);
    this.#outdated.add([...sessions.busy(), ...streams.all().map(({ session }) => session)]);
  }

  stop(): void {
    this.#rechecks.stop();
    this.#outdated.stop();
  }

  #hearEvent({ subject, payload }: Message): void {
    const [, , workspaceText = '', kind] = tokensOf(patterns.events, subject) ?? [];
    const workspace = findId('workspace', workspaceText);
    if (workspace === null) return;
    const happened = event.parse(JSON.parse(Buffer.from(payload).toString()));
    if (kind === 'key') this.#forgetKey(workspace, happened.key);
    else if (kind !== 'calls') this.#platform.catalogues.changed(workspace, happened);
  }

  /** Checks the streams and calls of one key, or of a whole workspace, again. */
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
    this.#rechecks.add(callsOf(sessions.busy().filter(isMeant)));
  }

  /** Checks the streams and calls of a person who tries tools again. */
  #hearOfPerson({ subject }: Message): void {
    const [, , named = ''] = tokensOf(patterns.accounts, subject) ?? [];
    const user = findId('user', named);
    if (user === null) return;
    const { principals, streams, sessions } = this.#platform;
    const keys = principals.forgetPerson(user);
    if (keys.size === 0) return;
    this.#rechecks.add([...streams.all()].filter(({ principal }) => keys.has(principal.key)));
    this.#rechecks.add(callsOf(sessions.busy().filter(({ key }) => keys.has(key))));
  }

  #hearOfSession(id: SessionId, message: SessionMessage): void {
    const { sessions, streams, listChanges } = this.#platform;
    const session = sessions.peek(id);
    switch (message.kind) {
      // These two messages also concern reads of the record that are in progress.
      case 'changed':
        sessions.changedElsewhere(id);
        if (session !== null && (session.calls !== null || streams.has(id))) this.#outdated.add([session]);
        break;
      case 'ended':
        sessions.endHere(id);
        break;
      case 'listening':
        streams.supersede(id, message.since);
        break;
      case 'silent':
        streams.resume(id);
        listChanges.ofSession(id);
        break;
      case 'cancel':
        session?.findCall(message.request)?.cancel();
    }
  }

  /** A session with only a stream or a call here receives no request, so no request would read its record. */
  async #catchUp(session: Session): Promise<boolean> {
    const isRead = await this.#platform.sessions.catchUp(session);
    if (isRead) this.#platform.listChanges.ofSession(session.id);
    return isRead;
  }
}

function* callsOf(sessions: Iterable<Session>): Generator<Admitted> {
  for (const { calls } of sessions) yield* calls ?? [];
}
