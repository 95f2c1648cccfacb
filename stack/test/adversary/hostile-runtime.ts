import { z } from 'zod';
import { callHeader } from '../../../services/contracts/bus/call.ts';
import { endOf } from '../../../services/contracts/bus/ends.ts';
import type { RuntimeIdentity } from '../../../services/contracts/bus/permissions.ts';
import { subjects } from '../../../services/contracts/bus/subjects.ts';
import { findProcessId, newProcessId, type ProcessId, randomText } from '../../../services/contracts/ids.ts';
import { findIdentity } from '../../../services/kit/bus/nats/connection-name.ts';
import { connectionName, newInbox } from '../../../services/kit/bus/nats/login.ts';
import { introductionSubject, readReplySubject } from '../../../services/kit/bus/nats/subjects.ts';
import type { BackendClient } from '../../client/backend-client.ts';
import { type Flooded, flood } from './flood.ts';
import { WireClient, type WireLogin, type WireMessage } from './wire-client.ts';

export interface HostileRuntimeOptions {
  readonly busPort: number;
  readonly backend: BackendClient;
  /** The attacker's own, with everything in it. */
  readonly workspace: string;
}

/** A runtime key of one workspace in the hands of somebody who writes every byte himself. */
export class HostileRuntime {
  readonly client: WireClient;
  readonly identity: RuntimeIdentity;
  readonly #login: WireLogin;
  readonly #busPort: number;

  private constructor({ client, identity, login }: Entered, busPort: number) {
    this.client = client;
    this.identity = identity;
    this.#login = login;
    this.#busPort = busPort;
  }

  static async register(
    { busPort, backend, workspace }: HostileRuntimeOptions,
    name = 'hostile',
  ): Promise<HostileRuntime> {
    const { registerRuntime } = await backend.query(
      'mutation ($w: ID!, $name: String!) { registerRuntime(workspace: $w, name: $name) { secret } }',
      { w: workspace, name },
      z.object({ registerRuntime: z.object({ secret: z.string() }) }).parse,
    );
    return await HostileRuntime.connect(busPort, registerRuntime.secret);
  }

  static async connect(busPort: number, key: string): Promise<HostileRuntime> {
    return await HostileRuntime.#listen(await enter(busPort, key, newProcessId()), busPort);
  }

  static async #listen(entered: Entered, busPort: number): Promise<HostileRuntime> {
    const { client, identity } = entered;
    client.subscribe(subjects.call(identity.runtime, identity.process));
    client.subscribe(subjects.command(identity.runtime, identity.process));
    client.subscribe(`_R.${endOf(identity)}.*.*`);
    client.subscribe(`_C.${endOf(identity)}.*.*`);
    await client.flush();
    return new HostileRuntime(entered, busPort);
  }

  get end(): string {
    return endOf(this.identity);
  }

  /** Connects once more with the same key, and claims to be this process. */
  async connectAs(process: ProcessId): Promise<HostileRuntime> {
    return await HostileRuntime.#listen(await enter(this.#busPort, this.#login.pass ?? '', process), this.#busPort);
  }

  /** Connects once more as the same process. */
  async connectAgain(): Promise<HostileRuntime> {
    const [nonce = ''] = (this.#login.name ?? '').split(' ');
    const process = findProcessId(nonce);
    if (process === null) throw new Error(`"${nonce}" is no nonce`);
    return await this.connectAs(process);
  }

  /** Sends the same message again and again at full speed from a process of its own. */
  flood(message: Uint8Array, count: number): Promise<Flooded> {
    return flood({ port: this.#busPort, login: this.#login, message: Buffer.from(message).toString('base64'), count });
  }

  /** The backend's answer to a question in one frame. */
  async ask(subject: string, payload: string): Promise<WireMessage> {
    const reply = `_R.${this.end}.backend.${randomText(22)}`;
    this.client.publish(subject, payload, { reply, headers: { 'Svc-Frame': 'question' } });
    return await this.client.heard(
      (message) => message.subject === reply && /Svc-Frame: (final|error)\r/.test(message.headers),
    );
  }

  /** Says that one of its MCP servers is Connected and has these tools. */
  async reportConnected(mcpServer: string, tools: readonly string[]): Promise<WireMessage> {
    const said = {
      ...{ mcpServer, configVersion: 1, status: 'Connected', health: 'green', reason: null, restarts: 0 },
      ...{ startedAt: Date.now(), nextRetryAt: null, stderr: [], tools: tools.length },
    };
    const lines = [{ complete: true, mcpServers: [said] }, ...tools.map(asTool)];
    const { runtime, process } = this.identity;
    return await this.ask(
      subjects.report(runtime, process),
      `${lines.map((line) => JSON.stringify(line)).join('\n')}\n`,
    );
  }

  /** The call that remote-mcp sends it next, with who sent it. */
  async nextCall(): Promise<Called> {
    const subject = subjects.call(this.identity.runtime, this.identity.process);
    const before = this.client.messages.length;
    const isNew = (message: WireMessage) =>
      message.subject === subject && this.client.messages.indexOf(message) >= before;
    const message = await this.client.heard(isNew);
    const ends = readReplySubject(message.reply);
    if (ends === null) throw new Error(`a call with the reply ${message.reply}`);
    return { message, asker: ends.asker, id: ends.id };
  }

  /** Says to whom the subject leads what a good runtime would say at the end of a call. */
  reply(subject: string, result: string): void {
    const headers = { 'Svc-Frame': 'final', 'Svc-Headers': JSON.stringify({ [callHeader.kind]: 'result' }) };
    this.client.publish(subject, result, { headers });
  }

  close(): void {
    this.client.close();
  }
}

export interface Called {
  readonly message: WireMessage;
  /** The end that sent the call: a remote-mcp. */
  readonly asker: string;
  readonly id: string;
}

function asTool(name: string): { readonly name: string; readonly definition: string } {
  return { name, definition: JSON.stringify({ name, inputSchema: { type: 'object' } }) };
}

interface Entered {
  readonly client: WireClient;
  readonly identity: RuntimeIdentity;
  readonly login: WireLogin;
}

/** Connects, and learns as whom the platform let it in. */
async function enter(port: number, key: string, process: ProcessId): Promise<Entered> {
  const inbox = newInbox();
  const login = { user: 'runtime', pass: key, name: connectionName(process, inbox) };
  const client = await WireClient.connect(port, login);
  client.subscribe(`${inbox}.>`);
  const told = await client.heard(({ subject }) => subject === introductionSubject(inbox));
  const identity = findIdentity(told.payload.toString());
  if (identity?.kind !== 'runtime') throw new Error(`let in as ${told.payload}`);
  return { client, identity, login };
}
