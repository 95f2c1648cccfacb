import { type AgentScope, connectPath } from '../../contracts/token.ts';
import { backendUrl } from '../app/environment.ts';
import { postSignedIn } from './account.ts';
import { fieldOf, unreachable } from './shown-error.ts';

/** An agent that asks for access, and what the person may give it. */
export interface AgentRequest {
  readonly client: {
    readonly name: string;
    /** Where the answer goes: the only part of the request that the agent cannot invent. */
    readonly redirectHost: string;
    readonly isLocal: boolean;
  };
  /** What the person may allow, the widest first. */
  readonly scopes: readonly AgentScope[];
  readonly workspaces: readonly OfferedWorkspace[];
}

export interface OfferedWorkspace {
  readonly id: string;
  readonly name: string;
}

export interface OfferedRole {
  readonly id: string;
  readonly name: string;
  readonly description: string;
}

export async function readAgentRequest(id: string): Promise<AgentRequest> {
  // The backend answers in this shape.
  return (await postSignedIn(pathOf(id), {})) as AgentRequest;
}

/** The roles of one of the offered workspaces. */
export async function readOfferedRoles(id: string, workspace: string): Promise<readonly OfferedRole[]> {
  // The backend answers in this shape.
  return fieldOf(await postSignedIn(`${pathOf(id)}/roles`, { workspace }), 'roles') as readonly OfferedRole[];
}

/** Returns the address that hands the answer to the agent. */
export async function answerAgent(id: string, answer: 'consent' | 'refuse', body: object): Promise<string> {
  const redirect = fieldOf(await postSignedIn(`${pathOf(id)}/${answer}`, body), 'redirect');
  if (typeof redirect === 'string') return redirect;
  throw unreachable(backendUrl);
}

function pathOf(id: string): string {
  return `${connectPath}/interaction/${encodeURIComponent(id)}`;
}
