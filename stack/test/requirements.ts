import {
  agentLifecycle,
  agentSessions,
  authorizationServer,
  backendServer,
  boot,
  files,
  frontend,
  mail,
  type Requirement,
  runtimeBus,
  runtimeSettings,
  transport,
  variablesTest,
  wholePath,
} from './requirement.ts';
import { variableRequirements } from './variable-requirements.ts';

const agentIsolation = 'services/remote-mcp/test/isolation.test.ts';
const agentKeys = 'services/remote-mcp/test/keys.test.ts';
const agentSkills = 'services/remote-mcp/test/skills.test.ts';
const agentCalls = 'services/remote-mcp/test/calls.test.ts';
const backendKeys = 'services/backend/keys/keys.test.ts';
const backendStatus = 'services/backend/test/status.test.ts';
const admission = 'services/backend/runtimes/admission.test.ts';
const runtimeCalls = 'services/runtime/test/calls.test.ts';
const envCheck = 'services/contracts/env/check.test.ts';
const keyText = 'services/contracts/keys.test.ts';

const webApplication = 'later: comes with the web application';
const integrations = 'later: comes with integrations';

/**
 * Every table row and numbered rule of the specification's parts 1 to 9, and every variable, by part and place; `additions` are the
 * architecture's, section 11. Each has the tests that show it, or the words "later: …" with what it waits for. requirements.test.ts fails where a row has neither, or names a test that is not there.
 */
export const requirements: Readonly<Record<string, Requirement>> = {
  // 1. What the service does
  '1.backend': {
    says: 'Backend: GraphQL, JWTs by Ed25519, encrypted secrets',
    shown: [`${backendServer}: publishes the keys that verify tokens`, `${backendServer}: an operator`],
  },
  '1.frontend': {
    says: 'Frontend: derives its URLs from the backend URL',
    shown: [`${frontend}: PUBLIC_BACKEND_URL overrides the build-time value`],
  },
  '1.remote-mcp': {
    says: 'Remote MCP server: terminates agent HTTP, holds sessions, fans calls out',
    shown: [`${agentCalls}: reaches its MCP server under the name that it knows, with who asks`],
  },
  '1.runtime': {
    says: 'Runtime: executes MCP servers and routes tool calls',
    shown: [`${runtimeCalls}: two MCP servers with tools of the same name never conflict`],
  },
  '1.graph': {
    says: 'Graph database: at least one coordination node and one data node',
    shown: ['stack/graph/test/dgraph.test.ts: the coordination node comes before the data node'],
  },
  '1.bus': {
    says: 'Message bus connects backend, remote MCP server and runtimes',
    shown: ['services/kit/bus/bus.contract.ts: requests'],
  },
  '1.manage-servers': {
    says: 'Managing MCP servers, with status and health',
    shown: [`${backendStatus}: that one process has Connected is Connected, with its tools`],
  },
  '1.manage-integrations': { says: 'Managing OAuth integrations', shown: integrations },
  '1.manage-keys': { says: 'Managing user API keys', shown: [`${backendKeys}: creating a key`] },
  '1.browse-skills': { says: 'Browsing skills', shown: webApplication },
  '1.palette': { says: 'A command palette', shown: webApplication },
  '1.runtimes': {
    says: 'A cloud runtime, and runtimes that customers deploy',
    shown: [`${admission}: admits one runtime of one workspace`],
  },

  // 2. Resources
  '2.workspace': {
    says: 'Keys and sessions belong to exactly one workspace',
    shown: [`${agentSessions}: of another key's session is refused with 404, also within the same workspace`],
  },
  '2.role': {
    says: 'A role must be active for its skills to be visible',
    shown: [
      `${agentSkills}: a role that is not active hides its skills and refuses their tools, until it is activated`,
    ],
  },
  '2.skill': {
    says: 'A skill must be in a role to be usable, and is addressed by id',
    shown: [`${agentSkills}: skillIds discloses those skills to that session only`],
  },
  '2.mcp-server': {
    says: 'Has a configuration, stored encrypted',
    shown: ['services/backend/test/changes.test.ts: keep their launch secret, and record names only'],
  },
  '2.integration': { says: 'An OAuth connection to an external service', shown: integrations },
  '2.key': {
    says: 'Name, expiration date, Expired label, Bearer token',
    shown: [`${backendKeys}: a key is valid until the moment it expires`],
  },
  '2.runtime-identity': {
    says: 'A runtime key, or a system key plus a name; sends heartbeats',
    shown: [
      `${admission}: of a runtime admits the platform's runtime of that name, created on its first use and the same ever after`,
      `${runtimeBus}: a runtime sends a heartbeat every HEARTBEAT_INTERVAL`,
    ],
  },
  '2.remote-mcp-identity': {
    says: 'A system key; no runtime record',
    shown: [`${admission}: of remote-mcp admits remote-mcp`],
  },
  '2.session': {
    says: 'Carries a workspace, ends when idle, may be preloaded',
    shown: [`${agentSessions}: ends a session that is idle for longer, and none that is used or has an open stream`],
  },
  '2.usage': {
    says: 'A last-used timestamp per key, throttled',
    shown: [`${backendKeys}: is rewritten at most once in a period`],
  },

  // 3. States
  '3.server-status': {
    says: 'Connected, Disconnected, Error',
    shown: [
      'services/backend/servers/status.test.ts: connected: green, without a reason, and calls can go there',
      'services/backend/servers/status.test.ts: no process at all',
      'services/backend/servers/status.test.ts: failed: its reason, its stderr and its next retry',
    ],
  },
  '3.server-health': {
    says: 'green, yellow, red',
    shown: [`${runtimeCalls}: lines that are not messages are skipped; many of them show as degraded`],
  },
  '3.key': {
    says: 'Expired past its date, otherwise valid',
    shown: [`${backendKeys}: a key is valid until the moment it expires`],
  },
  '3.cloud-runtime': {
    says: 'available, unavailable',
    shown: [
      'services/backend/runtimes/processes.test.ts: a runtime is available while one of its processes sends heartbeats',
    ],
  },
  '3.rule-1': {
    says: "A skill's tools are available only while every MCP server it references is Connected",
    shown: [
      `${backendStatus}: are available only while every MCP server it refers to is Connected`,
      `${agentSkills}: removes its tools from all skills that reference`,
    ],
  },
  '3.rule-2': {
    says: 'An expired or invalid key is answered with 401',
    shown: [`${agentKeys}: an expired key, also when it was just in use`],
  },

  // 4. Endpoints
  '4.health': {
    says: 'GET /health of remote-mcp: 200 whatever Authorization says',
    shown: [`${agentKeys}: /health lives whatever Authorization says, and is not a way to test a key`],
  },
  '4.runtime-health': {
    says: 'GET /health on REMOTE_PORT of the runtime',
    shown: ['services/kit/http/health.test.ts: /health'],
  },
  '4.ready': { says: 'GET /ready on runtime and remote-mcp', shown: ['services/kit/http/health.test.ts: /ready'] },
  '4.mcp': {
    says: 'POST /mcp: JSON-RPC, ping, any answer but 401 means a valid key',
    shown: [`${agentKeys}: a ping with a good key is answered, without a session`],
  },
  '4.oauth-callback': { says: 'The redirect URI of external OAuth providers', shown: integrations },
  '4.remote-port': { says: 'remote-mcp listens on REMOTE_PORT', shown: [`${variablesTest}: remote-mcp REMOTE_PORT`] },
  '4.oauth-metadata': { says: 'remote-mcp serves the OAuth metadata', shown: authorizationServer },
  '4.preloading': {
    says: 'skillIds and roleIds disclose to that connection only',
    shown: [
      `${agentSkills}: skillIds discloses those skills to that session only`,
      `${agentSkills}: roleIds discloses their skills`,
    ],
  },

  // 5. Authentication
  '5.rule-1': {
    says: 'Bearer; a header without the word is wrong',
    shown: [
      `${agentKeys}: a ping with a good key is answered, without a session`,
      `${agentKeys}: a key without the word Bearer`,
    ],
  },
  '5.rule-2': {
    says: 'SVA_ current, USK older and valid',
    shown: [`${backendKeys}: keys of older installations are accepted`],
  },
  '5.rule-3': { says: 'WSK_ rejected everywhere', shown: [`${agentKeys}: a workspace key`] },
  '5.rule-4': {
    says: 'No accepted prefix: invalid',
    shown: [`${keyText}: a text that is not a key is refused by its form:`],
  },
  '5.rule-5': {
    says: 'A key belongs to one workspace',
    shown: [`${agentIsolation}: ids of the other workspace are refused like ids that are nowhere`],
  },
  '5.rule-6': {
    says: 'Past its expiration: Expired, 401',
    shown: [`${agentKeys}: an expired key, also when it was just in use`],
  },
  '5.rule-7': { says: 'Keys are created under Profile > API Keys', shown: webApplication },
  '5.rule-8': {
    says: '/health cannot test a key; ping on /mcp does',
    shown: [`${agentKeys}: /health lives whatever Authorization says, and is not a way to test a key`],
  },
  '5.jwt': {
    says: 'Signed by Ed25519, verified with the public key',
    shown: ['services/backend/tokens/verify-token.test.ts: a token signed with the previous key'],
  },
  '5.jwt-issuer': {
    says: 'The issuer claim is JWT_ISSUER',
    shown: [`${boot}: JWT_ISSUER decides whose tokens are good`],
  },
  '5.jwt-lifetimes': { says: 'Lifetimes of access and refresh tokens', shown: authorizationServer },
  '5.oauth-server': { says: 'The backend is an OAuth authorization server', shown: authorizationServer },
  '5.runtime': {
    says: 'Exactly one form of identity; USER_KEY and MCP_REMOTE_ENABLED are rejected',
    shown: [`${envCheck}: the identity of a runtime`, `${envCheck}: removed variables`],
  },
  '5.remote-mcp': { says: 'SYSTEM_KEY only', shown: [`${envCheck}: removed variables`] },
  '5.encryption': {
    says: 'ENCRYPTION_KEY: 64 hex characters; not the development one in production',
    shown: [`${envCheck}: of development is refused in production only`],
  },
  '5.origins': {
    says: 'Allowed origins, DNS rebinding, CORS_ORIGINS',
    shown: [
      `${transport}: without a list every origin is refused, and requests without one are not`,
      `${backendServer}: any other may not`,
    ],
  },
  '5.tls': {
    says: 'TLS is advised for bus and graph',
    shown: ['services/kit/bus/nats/server.test.ts: over TLS, whose authority must be known'],
  },
  '5.integrations': { says: 'Scopes, exact redirect URI, Reconnect', shown: integrations },

  // 6. Events
  '6.heartbeat': {
    says: 'A heartbeat every HEARTBEAT_INTERVAL',
    shown: [`${runtimeBus}: a runtime sends a heartbeat every HEARTBEAT_INTERVAL`],
  },
  '6.mail': { says: 'Outbound e-mail through the configured provider', shown: mail },

  // 7. Errors
  '7.key': {
    says: 'Missing, invalid or expired key: 401',
    shown: [
      `${agentKeys}: no Authorization header`,
      `${agentKeys}: a key that nobody created`,
      `${agentKeys}: an expired key, also when it was just in use`,
    ],
  },
  '7.forbidden': {
    says: '403 on agent connection',
    shown: [`${agentKeys}: a suspended workspace, at once and until it is not suspended any more`],
  },
  '7.bearer': { says: 'No Bearer word: 401', shown: [`${agentKeys}: a key without the word Bearer`] },
  '7.redirect': { says: 'Redirect URI differs', shown: integrations },
  '7.oauth-token': { says: 'Expired OAuth token', shown: integrations },
  '7.runtime-rejected': {
    says: 'USER_KEY or MCP_REMOTE_ENABLED: rejected at boot',
    shown: [`${runtimeSettings}: as a separate process it ends at the boot with %s, and says why`],
  },
  '7.remote-mcp-rejected': {
    says: 'RUNTIME_KEY or RUNTIME_NAME: rejected at boot',
    shown: [`${agentLifecycle}: it does not start with a wrong %s, and says so`],
  },
  '7.runtime-identity': {
    says: 'Neither RUNTIME_KEY nor SYSTEM_KEY plus RUNTIME_NAME',
    shown: [`${envCheck}: the identity of a runtime`],
  },
  '7.encryption-key': {
    says: 'No ENCRYPTION_KEY: required variable missing',
    shown: [`${boot}: with every fault in one message`],
  },
  '7.disconnected': { says: 'Tools of a Disconnected MCP server: unavailable', shown: [`${agentSkills}: list_skills`] },
  '7.origin': {
    says: 'Origin not allowed: refused',
    shown: [`${transport}: without a list every origin is refused, and requests without one are not`],
  },

  // 8. Limits and variables
  '8.file-access': { says: 'File access is limited to SVC_ALLOWED_PATHS', shown: files },
  ...variableRequirements,

  // 9. Versioning
  '9.prefixes': {
    says: 'SVA_, USK, and WSK_ no longer',
    shown: [`${agentKeys}: a workspace key`, `${backendKeys}: keys of older installations are accepted`],
  },
  '9.modes': {
    says: 'USER_KEY and MCP_REMOTE_ENABLED rejected; SKILL_IDS and ROLE_IDS not read',
    shown: [`${envCheck}: removed variables`, `${variablesTest}: runtime SKILL_IDS`],
  },
  '9.separate': {
    says: 'The public endpoint is a service of its own',
    shown: [`${wholePath}: sees the constant tools, finds a skill, loads it and calls its tools`],
  },
};
