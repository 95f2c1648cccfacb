import { createHash } from 'node:crypto';
import {
  type Assigned,
  type HandshakeReply,
  type HandshakeRequest,
  type HelloReply,
  handshakeMaxBytes,
  handshakeRequest,
  type Reason,
} from '../../contracts/bus/messages.ts';
import { patterns } from '../../contracts/bus/subjects.ts';
import { SvcError } from '../../contracts/errors.ts';
import type { Subscription } from '../../kit/bus/bus.ts';
import type { Backend } from '../context.ts';
import type { Node } from '../graph/graph.ts';
import { type CommandRule, findRefusal, howToAllow, parseCommandRule } from '../servers/command-rule.ts';
import { decryptLaunch, type KeptLaunch } from '../servers/launch.ts';
import { parseBody, toBody } from '../wire.ts';
import { assignedServers, findRemoved, requireRuntime } from './assigned.ts';
import { hear } from './hear.ts';
import { seal } from './seal.ts';
import { senderOf } from './sender.ts';

type Context = Pick<Backend, 'graph' | 'secrets' | 'config' | 'log'>;

/** Tells a runtime's process what it shall run. Backends answer in turn. */
export function answerHandshakes(backend: Context & Pick<Backend, 'bus' | 'processes'>): Subscription {
  return backend.bus.respond(
    patterns.handshake,
    async ({ subject, payload }) => {
      const sender = senderOf(patterns.handshake, subject);
      const runtime = await requireRuntime(backend.graph, sender.runtime);
      const request = parseBody(handshakeRequest, payload, handshakeMaxBytes);
      const reply = await handshake(backend, runtime, request);
      const { etag, version, sandbox } = request;
      hear(backend, sender, { whole: etag === undefined, version, sandbox });
      return { payload: toBody(reply), headers: {} };
    },
    { queue: 'backend', concurrencyMax },
  );
}

/** All launches of a runtime are decrypted at once; a runtime that is refused asks again. */
const concurrencyMax = 64;

/** Tells remote-mcp the addresses it is known by. */
export function answerHellos(backend: Pick<Backend, 'bus' | 'config'>): Subscription {
  const { PUBLIC_BACKEND_URL, PUBLIC_MCP_URL } = backend.config;
  const reply: HelloReply = { backendUrl: PUBLIC_BACKEND_URL, mcpUrl: PUBLIC_MCP_URL };
  return backend.bus.respond(patterns.hello, async () => ({ payload: toBody(reply), headers: {} }), {
    queue: 'backend',
  });
}

/** Where the process has the present assignments already, nothing is decrypted or sealed. */
async function handshake(
  backend: Context,
  runtime: Node<'runtime'>,
  request: HandshakeRequest,
): Promise<HandshakeReply> {
  const servers: Node<'mcpServer'>[] = [];
  for await (const page of assignedServers(backend.graph, runtime)) {
    servers.push(...page);
    if (servers.length > assignmentsMax) throw tooMany(runtime);
  }
  const confinesMembers = request.confinesMembers ?? false;
  const etag = etagOf(servers, { commands: backend.config.MCP_SERVER_COMMANDS, confinesMembers });
  const removed = await findRemoved(backend.graph, runtime, request.homes ?? []);
  const common = { mcpUrl: backend.config.PUBLIC_MCP_URL, ...(removed.length === 0 ? {} : { removed: [...removed] }) };
  if (request.etag === etag) return { ...common, etag };
  const assignments = assignmentsOf(backend, servers, confinesMembers);
  const sealed = await seal(assignments, request.publicKey);
  // What is missing shall come with a later handshake, so this tag must never be the present one.
  return { ...common, etag: assignments.length === servers.length ? etag : `incomplete ${etag}`, sealed };
}

/** What the contract lets one process take. */
const assignmentsMax = 10_000;

function tooMany({ name }: Node<'runtime'>): SvcError {
  return new SvcError('too_large', `The runtime "${name}" has more than ${assignmentsMax} MCP servers to run.`, {
    hint: 'Bind some of them to another runtime.',
  });
}

interface AssignmentRules {
  readonly commands: string;
  readonly confinesMembers: boolean;
}

/** Over all that a process is told; `configVersion` stands for the launch, and with the rules for whether it may be run. */
function etagOf(servers: readonly Node<'mcpServer'>[], { commands, confinesMembers }: AssignmentRules): string {
  const hash = createHash('sha256').update(`${commands}\n${confinesMembers}\n`);
  for (const { id, configVersion, name } of servers) hash.update(`${id} ${configVersion} ${name}\n`);
  return hash.digest('base64url');
}

/**
 * One launch that cannot be decrypted must not keep all others from running. What was allowed when it was added need not be so any more: the
 * rule is asked again before anything is run.
 */
function assignmentsOf(
  backend: Context,
  servers: readonly Node<'mcpServer'>[],
  confinesMembers: boolean,
): readonly Assigned[] {
  const rule = parseCommandRule(backend.config.MCP_SERVER_COMMANDS);
  return servers.flatMap((server): readonly Assigned[] => {
    const { id, workspace, name, configVersion } = server;
    try {
      const kept = decryptLaunch(backend.secrets, server);
      const known = { mcpServer: id, workspace, name, configVersion };
      const refused = findRefused(kept, rule) ?? (confinesMembers ? null : findUnconfined(kept, name));
      return [refused === null ? { ...known, ...kept } : { ...known, refused }];
    } catch (error) {
      backend.log('runtimes').error({ err: error, mcpServer: id, workspace }, 'launch not decrypted');
      return [];
    }
  });
}

function findRefused({ launch }: KeptLaunch, rule: CommandRule): Reason | null {
  const refusal = findRefusal(rule, launch);
  return refusal === null ? null : { code: 'command_refused', message: refusal, repair: howToAllow };
}

/** A runtime of an older version runs every command without a sandbox, and connects to every address. */
function findUnconfined({ setBy }: KeptLaunch, name: string): Reason | null {
  if (setBy === 'operator') return null;
  return {
    code: 'runtime_outdated',
    message: `A member of the workspace set the launch of "${name}", and this runtime is of an older version, which cannot confine members' launches.`,
    repair: 'Update the program of the runtime (svc-platform), or let an operator set the launch: svc apply.',
  };
}
