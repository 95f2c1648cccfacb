import { SvcError } from '../../../contracts/errors.ts';
import { nothingDisclosed } from '../../sessions/disclosure.ts';
import { findProtocolVersion, protocolVersions } from '../../sessions/protocol.ts';
import { fingerprint } from '../../tools/list-changes.ts';
import type { WireParts } from '../wire-parts.ts';
import { disclose, preloads } from './preloading.ts';
import type { AgentRequest } from './session-request.ts';

const instructions = {
  skills: [
    'The tools here are grouped into skills. Call list_skills to see them, then load_skill to get the instructions and tools of one, and which files it carries.',
    'A tool of a loaded skill is called by its name, or through call_tool where your list of tools does not show it.',
  ].join(' '),
  all: 'The tools here are grouped into skills, and all of them are listed. Call list_skills to see the skills, then load_skill to get the instructions of one before you use its tools.',
};

/** Opens a session (2025-11-25, "Lifecycle", "Initialization"). A session id in the request is ignored. */
export async function initialize(
  platform: Pick<WireParts, 'catalogues' | 'sessions' | 'version'>,
  { exchange, principal, message, answer }: AgentRequest,
): Promise<void> {
  const { protocolVersion } = message.params;
  if (typeof protocolVersion !== 'string') throw new SvcError('invalid_input', '"protocolVersion" must be a text.');
  const protocol = findProtocolVersion(protocolVersion) ?? protocolVersions[0];
  const named = preloads(exchange.request.url ?? '');
  const { catalogues } = platform;
  // A session without preloads needs no catalogue yet.
  const catalogue = named === null ? catalogues.now(principal.workspace) : await catalogues.of(principal.workspace);
  const disclosure = named === null || catalogue === null ? nothingDisclosed : disclose(named, catalogue, principal);
  const session = await platform.sessions.open(principal, { protocol, disclosure, logLevel: 'debug' });
  session.listed = catalogue === null ? null : fingerprint({ catalogue, principal, session });
  const result = {
    protocolVersion: protocol,
    capabilities: { tools: { listChanged: true }, logging: {} },
    serverInfo: { name: 'svc', title: principal.workspaceName, version: platform.version },
    instructions: instructions[principal.disclosure],
  };
  answer.result(JSON.stringify(result), ['mcp-session-id', session.id]);
}
