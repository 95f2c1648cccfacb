import type { AgentRequest, InteractionAnswers, OfferedRoles } from '../../contracts/browser-answers.ts';
import { connectPath } from '../../contracts/token.ts';
import { postSignedIn } from './account.ts';

export function readAgentRequest(id: string): Promise<AgentRequest> {
  return post(id, '', {});
}

/** The roles of one of the offered workspaces. */
export async function readOfferedRoles(id: string, workspace: string): Promise<OfferedRoles> {
  return await post(id, 'roles', { workspace });
}

/** Returns the address that hands the answer to the agent. */
export async function answerAgent(id: string, answer: 'consent' | 'refuse', body: object): Promise<string> {
  return (await post(id, answer, body)).redirect;
}

async function post<Path extends keyof InteractionAnswers>(
  id: string,
  path: Path,
  body: object,
): Promise<InteractionAnswers[Path]> {
  const address = `${connectPath}/interaction/${encodeURIComponent(id)}`;
  // The backend answers by the same list.
  return (await postSignedIn(path === '' ? address : `${address}/${path}`, body)) as InteractionAnswers[Path];
}
