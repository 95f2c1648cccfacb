import { createHash } from 'node:crypto';
import {
  assignmentsMax,
  type HandshakeReply,
  type HandshakeRequest,
  type HelloReply,
  handshakeMaxBytes,
  handshakeRequest,
} from '../../contracts/bus/messages.ts';
import { patterns } from '../../contracts/bus/subjects.ts';
import type { Deadlines } from '../../contracts/mcp-server-deadlines.ts';
import type { Subscription } from '../../kit/bus/bus.ts';
import { senderOf } from '../bus/sender.ts';
import { parseBody, toBody } from '../bus/wire.ts';
import type { WithBus, WithConfig, WithLog } from '../bus/with-bus.ts';
import type { Graph, Node, WithGraph } from '../graph/graph.ts';
import type { WithSecrets } from '../secrets/secrets.ts';
import { assignedServers, findRemoved, requireRuntime } from './assigned.ts';
import { hear } from './hear.ts';
import { type Candidate, entryBytesOf, planAssignments } from './plan-assignments.ts';
import type { WithProcesses } from './processes.ts';
import { readAssignments } from './read-assignments.ts';
import { RuntimePlaces } from './runtime-places.ts';
import { seal } from './seal.ts';

type HandshakeNeeds = WithGraph & WithSecrets & WithConfig & WithLog;

/** Gives a runtime's process its assignments. Several backends take turns. */
export function answerHandshakes(backend: HandshakeNeeds & WithBus & WithProcesses): Subscription {
  const places = new RuntimePlaces('handshakes');
  return backend.bus.respond(
    patterns.handshake,
    async ({ subject, payload }) => {
      const sender = senderOf(patterns.handshake, subject);
      const runtime = await requireRuntime(backend.graph, sender.runtime);
      return await places.take(runtime, async () => {
        const request = parseBody(handshakeRequest, payload, handshakeMaxBytes);
        const reply = await handshake(backend, runtime, request);
        const { etag, version, sandbox, home } = request;
        hear(backend, sender, { whole: etag === undefined, version, sandbox, home });
        return { payload: toBody(reply), headers: {} };
      });
    },
    { queue: 'backend' },
  );
}

/** Sends remote-mcp its advertised addresses. */
export function answerHellos(backend: WithBus & WithConfig): Subscription {
  const { PUBLIC_BACKEND_URL, PUBLIC_MCP_URL } = backend.config;
  const reply: HelloReply = { backendUrl: PUBLIC_BACKEND_URL, mcpUrl: PUBLIC_MCP_URL };
  return backend.bus.respond(patterns.hello, async () => ({ payload: toBody(reply), headers: {} }), {
    queue: 'backend',
  });
}

/** Decrypts and seals nothing when the process has the current assignments. */
async function handshake(
  backend: HandshakeNeeds,
  runtime: Node<'runtime'>,
  request: HandshakeRequest,
): Promise<HandshakeReply> {
  const candidates = await findCandidates(backend.graph, runtime);
  const confinesMembers = request.confinesMembers ?? false;
  const etag = etagOf(candidates, { commands: backend.config.MCP_SERVER_COMMANDS, confinesMembers });
  const removed = await findRemoved(backend.graph, runtime, request.homes ?? []);
  const { PUBLIC_MCP_URL: mcpUrl } = backend.config;
  const common = { mcpUrl, at: Date.now(), ...(removed.length === 0 ? {} : { removed: [...removed] }) };
  if (request.etag === etag) return { ...common, etag };
  const plan = planAssignments(candidates);
  if (plan.size < candidates.length) noteLeftOut(backend, runtime, candidates.length - plan.size);
  const assignments = await readAssignments(backend, { runtime, plan, confinesMembers });
  const sealed = await seal(assignments, request.publicKey);
  // A later handshake brings the missing part, so this tag must never equal the current one.
  return { ...common, etag: assignments.length === plan.size ? etag : `incomplete ${etag}`, sealed };
}

interface KnownCandidate
  extends Candidate,
    Deadlines,
    Pick<Node<'mcpServer'>, 'name' | 'configVersion' | 'tokenVersion'> {}

/** Without launches, because the launches of all workspaces together may not fit into memory. */
async function findCandidates(graph: Graph, runtime: Node<'runtime'>): Promise<readonly KnownCandidate[]> {
  const candidates: KnownCandidate[] = [];
  for await (const page of assignedServers(graph, runtime)) {
    for (const server of page) {
      const { id, workspace, name, configVersion, tokenVersion, startTimeout, callTimeout } = server;
      const bytes = entryBytesOf(server);
      candidates.push({ id, workspace, name, configVersion, tokenVersion, startTimeout, callTimeout, bytes });
    }
  }
  return candidates;
}

function noteLeftOut(backend: HandshakeNeeds, { id, name }: Node<'runtime'>, count: number): void {
  const fields = { runtime: id, runtimeName: name, count, assignmentsMax };
  backend.log('runtimes').warn(fields, 'limited the MCP servers of a runtime with too many assignments');
}

interface AssignmentRules {
  readonly commands: string;
  readonly confinesMembers: boolean;
}

/**
 * Covers everything that the process receives. `configVersion` represents the launch and, with the rules, whether it
 * may run.
 */
function etagOf(candidates: readonly KnownCandidate[], { commands, confinesMembers }: AssignmentRules): string {
  const hash = createHash('sha256').update(`${commands}\n${confinesMembers}\n`);
  for (const { id, configVersion, tokenVersion, startTimeout, callTimeout, name } of candidates) {
    const token = tokenVersion === null ? '' : ` ${tokenVersion}`;
    hash.update(`${id} ${configVersion}${token} ${startTimeout} ${callTimeout} ${name}\n`);
  }
  return hash.digest('base64url');
}
