import { callHeader } from '../../../services/contracts/bus/call.ts';
import { endOf } from '../../../services/contracts/bus/ends.ts';
import type { RuntimeIdentity } from '../../../services/contracts/bus/permissions.ts';
import { subjects } from '../../../services/contracts/bus/subjects.ts';
import { newProcessId, type ProcessId, randomText } from '../../../services/contracts/ids.ts';
import { findIdentity } from '../../../services/kit/bus/nats/connection-name.ts';
import { connectionName, newInbox } from '../../../services/kit/bus/nats/login.ts';
import { introductionSubject, readReplySubject } from '../../../services/kit/bus/nats/subjects.ts';
import { registerRuntimeMutation } from '../../client/generated/operations.ts';
import type { TwoHomes } from '../homes.ts';
import { flood } from './flood.ts';
import { WireClient, type WireLogin, type WireMessage } from './wire-client.ts';

/** An attacker with a runtime key of one workspace, who writes every byte of its messages. */
export class HostileRuntime {
  readonly client: WireClient;
  readonly identity: RuntimeIdentity;
  readonly #login: Login;

  private constructor(client: WireClient, identity: RuntimeIdentity, login: Login) {
    this.client = client;
    this.identity = identity;
    this.#login = login;
  }

  /** Registers a runtime in workspace A. The attacker owns all of A. */
  static async register({ platform, backend, a }: TwoHomes, name: string): Promise<HostileRuntime> {
    const { registerRuntime } = await backend.send(registerRuntimeMutation, { workspace: a.workspace, name });
    const { secret } = registerRuntime;
    return await HostileRuntime.#connect(platform.busPorts.port, secret, newProcessId());
  }

  /** Connects, reads the identity that the platform assigned, and subscribes to the subjects of a runtime. */
  static async #connect(port: number, pass: string, process: ProcessId): Promise<HostileRuntime> {
    const inbox = newInbox();
    const wire = { user: 'runtime', pass, name: connectionName(process, inbox) };
    const client = await WireClient.connect(port, wire);
    client.subscribe(`${inbox}.>`);
    const introduction = await client.heard(({ subject }) => subject === introductionSubject(inbox));
    const identity = findIdentity(introduction.payload.toString());
    if (identity?.kind !== 'runtime') throw new Error(`let in as ${introduction.payload}`);
    client.subscribe(subjects.call(identity.runtime, identity.process));
    client.subscribe(subjects.command(identity.runtime, identity.process));
    for (const kind of ['_R', '_C']) client.subscribe(`${kind}.${endOf(identity)}.*.*`);
    await client.flush();
    return new HostileRuntime(client, identity, { port, process, wire });
  }

  get end(): string {
    return endOf(this.identity);
  }

  /** Connects again with the same key, as this process; by default as the same process. */
  async connectAs(process = this.#login.process): Promise<HostileRuntime> {
    const { port, wire } = this.#login;
    return await HostileRuntime.#connect(port, wire.pass, process);
  }

  /** Sends one message repeatedly, at full speed from its own process. Returns the number of messages sent. */
  flood(message: Uint8Array, count: number): Promise<number> {
    const { port, wire } = this.#login;
    return flood({ port, login: wire, message: Buffer.from(message).toString('base64'), count });
  }

  /** Sends a report in one frame. Returns the backend's answer. */
  async report(mcpServers: readonly object[], tools: readonly object[] = []): Promise<WireMessage> {
    const reply = `_R.${this.end}.backend.${randomText(22)}`;
    const subject = subjects.report(this.identity.runtime, this.identity.process);
    const lines = [{ complete: true, mcpServers }, ...tools];
    const payload = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
    this.client.publish(subject, payload, { reply, headers: { 'Svc-Frame': 'question' } });
    return await this.client.heard(
      (message) => message.subject === reply && /Svc-Frame: (final|error)\r/.test(message.headers),
    );
  }

  /** Waits for the next call from a remote-mcp, whose end is `asker`. */
  async nextCall() {
    const subject = subjects.call(this.identity.runtime, this.identity.process);
    const before = new Set(this.client.messages);
    const message = await this.client.heard((one) => one.subject === subject && !before.has(one));
    const ends = readReplySubject(message.reply);
    if (ends === null) throw new Error(`a call with the reply ${message.reply}`);
    return { message, asker: ends.asker, id: ends.id };
  }

  /** Publishes the last message of a call, as a correct runtime would. */
  reply(subject: string, result: string): void {
    const headers = { 'Svc-Frame': 'final', 'Svc-Headers': JSON.stringify({ [callHeader.kind]: 'result' }) };
    this.client.publish(subject, result, { headers });
  }

  close(): void {
    this.client.close();
  }
}

interface Login {
  readonly port: number;
  readonly process: ProcessId;
  readonly wire: Required<WireLogin>;
}
