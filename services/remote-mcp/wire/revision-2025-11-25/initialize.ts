import type { Principal } from '../../../contracts/bus/messages.ts';
import { SvcError } from '../../../contracts/errors.ts';
import { findId, type RoleId, type SkillId } from '../../../contracts/ids.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import { type Disclosure, nothingDisclosed, skillsMax } from '../../sessions/disclosure.ts';
import { findProtocolVersion, protocolVersions } from '../../sessions/protocol.ts';
import { fingerprint } from '../../tools/list-changes.ts';
import { isOfKey, isSkillOfKey } from '../../tools/view.ts';
import type { WireParts } from '../wire-parts.ts';
import type { AgentRequest } from './session-request.ts';

const instructions = [
  'The tools here are grouped into skills. Call list_skills to see them, then load_skill to get the instructions and tools of one, and which files it carries.',
  'A tool of a loaded skill is called by its name, or through call_tool where your list of tools does not show it.',
].join(' ');

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
    instructions,
  };
  answer.result(JSON.stringify(result), ['mcp-session-id', session.id]);
}

interface Preloads {
  readonly skills: readonly string[];
  readonly roles: readonly string[];
}

/** The ids in `?skillIds=` and `?roleIds=` (part 4 of the specification, preloading); null if there are none. */
function preloads(url: string): Preloads | null {
  const question = url.indexOf('?');
  if (question < 0) return null;
  const query = new URLSearchParams(url.slice(question + 1));
  const skills = listed(query, 'skillIds');
  const roles = listed(query, 'roleIds');
  return skills.length === 0 && roles.length === 0 ? null : { skills, roles };
}

function listed(query: URLSearchParams, name: string): readonly string[] {
  const ids = query.getAll(name).flatMap((value) => value.split(','));
  const given = new Set(ids.map((id) => id.trim()).filter(Boolean));
  if (given.size > skillsMax) throw new SvcError('invalid_input', `"${name}" may name at most ${skillsMax} ids.`);
  return [...given];
}

/** Ids outside the key are refused like ids that do not exist, so that an agent cannot tell them apart. */
function disclose({ skills, roles }: Preloads, catalogue: Catalogue, principal: Principal): Disclosure {
  const roleIds = roles.map((text): RoleId => {
    const id = findId('role', text);
    const role = id === null ? undefined : catalogue.rolesById.get(id);
    if (role === undefined || !isOfKey(principal, role)) throw outside('roleIds', id);
    return role.id;
  });
  const skillIds = skills.map((text): SkillId => {
    const id = findId('skill', text);
    const skill = id === null ? undefined : catalogue.skillsById.get(id);
    if (skill === undefined || !isSkillOfKey({ principal }, skill)) throw outside('skillIds', id);
    return skill.id;
  });
  const choice = roleIds.length === 0 ? nothingDisclosed.choice : { kind: 'only' as const, roles: roleIds };
  return { choice, skills: skillIds, roles: roleIds };
}

/** A malformed id is not repeated in the message, because refusals are logged and it may be the key by mistake. */
function outside(parameter: string, id: string | null): SvcError {
  const what = id === null ? 'Something' : `"${id}"`;
  return new SvcError('forbidden', `${what} in ${parameter} is not within this API key.`, {
    hint: 'Use ids of the workspace and roles that the key is for: svc skill list, svc role list.',
  });
}
