import type { Assigned, Reason } from '../../contracts/bus/messages.ts';
import type { McpServerId } from '../../contracts/ids.ts';
import { shownLine } from '../../contracts/shown-text.ts';
import { giveWay } from '../../kit/give-way.ts';
import type { WithConfig, WithLog } from '../bus/with-bus.ts';
import type { Node, WithGraph } from '../graph/graph.ts';
import { authorizationOf } from '../integrations/authorization-of.ts';
import type { WithSecrets } from '../secrets/secrets.ts';
import { type CommandRule, findRefusal, howToAllow, parseCommandRule } from '../servers/command-rule.ts';
import { decryptLaunch, type KeptLaunch, missingIn } from '../servers/launch.ts';
import { assignedServers } from './assigned.ts';
import { entryBytesOf } from './plan-assignments.ts';

type AssignmentNeeds = WithGraph & WithSecrets & WithConfig & WithLog;

export interface AssignmentsRequest {
  readonly runtime: Node<'runtime'>;
  /** The bytes that `planAssignments` grants each MCP server. */
  readonly plan: ReadonlyMap<McpServerId, number>;
  readonly confinesMembers: boolean;
}

/**
 * The granted entries, one for each MCP server in the plan. A launch that cannot be decrypted, is not allowed or does
 * not fit must not keep the others from running. A launch may have become forbidden since it was added.
 */
export async function readAssignments(
  backend: AssignmentNeeds,
  { runtime, plan, confinesMembers }: AssignmentsRequest,
): Promise<readonly Assigned[]> {
  const rule = parseCommandRule(backend.config.MCP_SERVER_COMMANDS);
  const assignments: Assigned[] = [];
  for await (const page of assignedServers(backend.graph, runtime)) {
    for (const server of page) {
      const grantedBytes = plan.get(server.id);
      if (grantedBytes === undefined) continue;
      const { id: mcpServer, workspace, name, configVersion, startTimeout, callTimeout } = server;
      const deadlines = {
        ...(startTimeout === null ? {} : { startTimeout }),
        ...(callTimeout === null ? {} : { callTimeout }),
      };
      const isTooLarge = entryBytesOf(server) > grantedBytes;
      const told = isTooLarge ? { refused: tooLarge(name, runtime) } : read(backend, server, { rule, confinesMembers });
      if (told === null) continue;
      const authorization = 'launch' in told ? await authorizationOf(backend, server, told.launch) : {};
      assignments.push({ mcpServer, workspace, name, configVersion, ...deadlines, ...told, ...authorization });
    }
    await giveWay();
  }
  return assignments;
}

interface LaunchRules {
  readonly rule: CommandRule;
  readonly confinesMembers: boolean;
}

/** Null when it cannot be decrypted. */
function read(
  backend: AssignmentNeeds,
  server: Node<'mcpServer'>,
  { rule, confinesMembers }: LaunchRules,
): Pick<KeptLaunch, 'launch' | 'setBy'> | { readonly refused: Reason } | null {
  const kept = findLaunch(backend, server);
  if (kept === null) return null;
  const refused =
    findRefused(kept, rule) ??
    (confinesMembers ? null : findUnconfined(kept, server.name)) ??
    findIncomplete(kept, server.name);
  return refused === null ? { launch: kept.launch, setBy: kept.setBy } : { refused };
}

function findLaunch(backend: AssignmentNeeds, server: Node<'mcpServer'>): KeptLaunch | null {
  try {
    return decryptLaunch(backend, server);
  } catch (error) {
    const { id: mcpServer, workspace } = server;
    backend.log('runtimes').error({ err: error, mcpServer, workspace }, 'failed to decrypt a launch');
    return null;
  }
}

function tooLarge(name: string, runtime: Node<'runtime'>): Reason {
  return {
    code: 'launch_too_large',
    message: `The launch of "${name}" exceeds the share of its workspace on the runtime "${runtime.name}".`,
    repair:
      'Shorten the launches of the workspace, or bind it to another runtime of the workspace: svc runtime register NAME',
  };
}

/** The length of a refusal that lists the commands of a long setting. */
const refusalLengthMax = 500;

function findRefused({ launch }: KeptLaunch, rule: CommandRule): Reason | null {
  const refusal = findRefusal(rule, launch);
  if (refusal === null) return null;
  return { code: 'command_refused', message: shownLine(refusal, refusalLengthMax), repair: howToAllow };
}

/** The names that a reason lists. */
const namesMax = 5;
const nameLengthMax = 80;

function findIncomplete(kept: KeptLaunch, name: string): Reason | null {
  const missing = missingIn(kept);
  const [first] = missing;
  if (first === undefined) return null;
  const listed = missing.slice(0, namesMax).map((setting) => setting.slice(0, nameLengthMax));
  const more = missing.length > namesMax ? ` and ${missing.length - namesMax} more` : '';
  const names = listed.join(', ') + more;
  const flags = kept.launch.kind === 'child' ? '--env' : '--header';
  const isOne = missing.length === 1;
  return {
    code: 'missing_settings',
    message: `It is not started: the required ${isOne ? 'setting' : 'settings'} ${names} ${isOne ? 'has' : 'have'} no value.`,
    repair: `Set ${isOne ? 'it' : 'them'}: svc server update ${name} ${flags} ${first.slice(first.indexOf('.') + 1).slice(0, nameLengthMax)}`,
  };
}

/** A runtime of an older version runs every command without a sandbox, and connects to every address. */
function findUnconfined({ setBy }: KeptLaunch, name: string): Reason | null {
  if (setBy === 'operator') return null;
  return {
    code: 'runtime_outdated',
    message: `A member of the workspace set the launch of "${name}", and this runtime is of an older version, which cannot confine members' launches.`,
    repair:
      'Update the program of the runtime (svc-platform), or let an operator set the launch: svc server update NAME -- COMMAND.',
  };
}
