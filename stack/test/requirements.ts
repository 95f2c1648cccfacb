import {
  agentLifecycle,
  agentSessions,
  agentSignIn,
  backendServer,
  boot,
  files,
  frontend,
  runtimeBus,
  runtimeSettings,
  type TestReferences,
  tokenLifetimes,
  transport,
  variableRequirements,
  variablesTest,
  wholePath,
} from './variable-requirements.ts';

const agentIsolation = 'services/remote-mcp/test/isolation.test.ts';
const agentKeys = 'services/remote-mcp/test/keys.test.ts';
const agentSkills = 'services/remote-mcp/test/skills.test.ts';
const agentCalls = 'services/remote-mcp/test/calls.test.ts';
const integrations = 'services/backend/test/integrations.test.ts';
const integrationsPage = 'services/frontend/test/integrations.test.ts';
const backendKeys = 'services/backend/keys/keys.test.ts';
const backendStatus = 'services/backend/test/status.test.ts';
const admission = 'services/backend/runtimes/admission.test.ts';
const runtimeCalls = 'services/runtime/test/calls.test.ts';
const envCheck = 'services/contracts/env/check.test.ts';
const signInOfOthers = 'stack/test/sign-in-of-others.test.ts';
const keyText = 'services/contracts/keys.test.ts';
const application = 'services/frontend/test/application.test.ts';
const palette = 'services/frontend/test/palette.test.ts';
const skillsPage = 'services/frontend/test/skills.test.ts';

/**
 * Every table row and numbered rule of the specification's parts 1 to 9, and every variable; `additions` come from
 * section 11 of the architecture. A row names its tests, or "later: …" with its condition; requirements.test.ts fails
 * if a row has neither, or a named test does not exist.
 */
export const requirements: Readonly<Record<string, TestReferences>> = {
  // 1. What the service does
  '1.backend: GraphQL, JWTs by Ed25519, encrypted secrets': [
    `${backendServer}: publishes the keys that verify tokens`,
    `${backendServer}: an operator`,
  ],
  '1.frontend: Derives its URLs from the backend URL': `${frontend}: PUBLIC_BACKEND_URL overrides the build-time value`,
  '1.remote-mcp: Terminates agent HTTP, holds sessions, fans calls out': `${agentCalls}: reaches its MCP server under the name that it knows, with who asks`,
  '1.runtime: Executes MCP servers and routes tool calls': `${runtimeCalls}: two MCP servers with tools of the same name never conflict`,
  '1.graph: At least one coordination node and one data node':
    'stack/graph/test/dgraph.test.ts: the coordination node comes before the data node',
  '1.bus: Message bus connects backend, remote MCP server and runtimes': 'services/kit/bus/bus.contract.ts: requests',
  '1.manage-servers: Managing MCP servers, with status and health': [
    `${backendStatus}: that one process has Connected is Connected, with its tools`,
    `${application}: adds, disables, enables and removes an MCP server`,
  ],
  '1.manage-integrations: Managing OAuth integrations': [
    `${integrationsPage}: an MCP server that needs authorization leads to its integration, which is connected`,
    `${integrationsPage}: it is disconnected, and the token is revoked`,
  ],
  '1.manage-keys: Managing user API keys': [
    `${backendKeys}: creating a key`,
    `${application}: creates a key, shows it once, and revokes it`,
  ],
  '1.browse-skills: Browsing skills': `${skillsPage}: the list is searched and filtered by the address`,
  '1.palette: A command palette: navigation, workspaces, themes': [
    `${palette}: is opened, used and closed by keys, and gives the focus back`,
    `${palette}: switches the workspace, and finds nothing of the other one`,
    `${palette}: creates in each place, switches the theme and shows the shortcuts`,
  ],
  '1.runtimes: A cloud runtime, and runtimes that customers deploy': `${admission}: admits one runtime of one workspace`,

  // 2. Resources
  '2.workspace: Keys and sessions belong to exactly one workspace': `${agentSessions}: of another key's session is refused with 404, also within the same workspace`,
  '2.role: A role must be active for its skills to be visible': `${agentSkills}: a role that is not active hides its skills and refuses their tools, until it is activated`,
  '2.skill: A skill must be in a role to be usable, and is addressed by id': `${agentSkills}: skillIds discloses those skills to that session only`,
  '2.mcp-server: Has a configuration, stored encrypted':
    'services/backend/test/changes.test.ts: keep their launch secret, and record names only',
  '2.integration: An OAuth connection to an external service': [
    `${integrations}: connects by a registration of its own, and its token reaches the runtime and nobody else`,
    `${integrations}: asks for PKCE, the resource and the scopes of the challenge`,
  ],
  '2.key: Name, expiration date, Expired label, Bearer token': `${backendKeys}: a key is valid until the moment it expires`,
  '2.runtime-identity: A runtime key, or a system key plus a name; sends heartbeats': [
    `${admission}: of a runtime admits the platform's runtime of that name, created on its first use and the same ever after`,
    `${runtimeBus}: a runtime sends a heartbeat every HEARTBEAT_INTERVAL`,
  ],
  '2.remote-mcp-identity: A system key; no runtime record': `${admission}: of remote-mcp admits remote-mcp`,
  '2.session: Carries a workspace, ends when idle, may be preloaded': `${agentSessions}: ends a session that is idle for longer, and none that is used or has an open stream`,
  '2.usage: A last-used timestamp per key, throttled': `${backendKeys}: is rewritten at most once in a period`,

  // 3. States
  '3.server-status: Connected, Disconnected, Error': [
    'services/backend/servers/status.test.ts: connected: green, without a reason, and calls can go there',
    'services/backend/servers/status.test.ts: no process at all',
    'services/backend/servers/status.test.ts: failed: its reason, its stderr and its next retry',
  ],
  '3.server-health: green, yellow, red': `${runtimeCalls}: lines that are not messages are skipped; many of them show as degraded`,
  '3.key: Expired past its date, otherwise valid': `${backendKeys}: a key is valid until the moment it expires`,
  '3.cloud-runtime: available, unavailable':
    'services/backend/runtimes/processes.test.ts: a runtime is available while one of its processes sends heartbeats',
  "3.rule-1: A skill's tools are available only while every MCP server it references is Connected": [
    `${backendStatus}: are available only while every MCP server it refers to is Connected`,
    `${agentSkills}: removes its tools from all skills that reference`,
  ],
  '3.rule-2: An expired or invalid key is answered with 401': `${agentKeys}: an expired key, also when it was just in use`,

  // 4. Endpoints
  '4.health: GET /health of remote-mcp: 200 whatever Authorization says': `${agentKeys}: /health lives whatever Authorization says, and is not a way to test a key`,
  '4.runtime-health: GET /health on REMOTE_PORT of the runtime': 'services/kit/http/health.test.ts: /health',
  '4.ready: GET /ready on runtime and remote-mcp': 'services/kit/http/health.test.ts: /ready',
  '4.mcp: POST /mcp: JSON-RPC, ping, any answer but 401 means a valid key': `${agentKeys}: a ping with a good key is answered, without a session`,
  '4.oauth-callback: The redirect URI of external OAuth providers': [
    `${integrationsPage}: an MCP server that needs authorization leads to its integration, which is connected`,
    `${integrations}: for a redirect URI that is registered differently, by the provider itself`,
  ],
  '4.remote-port: remote-mcp listens on REMOTE_PORT': `${variablesTest}: remote-mcp REMOTE_PORT`,
  '4.oauth-metadata: remote-mcp serves the OAuth metadata': [
    `${agentSignIn}: a 401 names the metadata by an absolute address, and the scope`,
    `${agentSignIn}: the metadata of the resource are at the path "%s", for pages of any origin`,
  ],
  '4.preloading: skillIds and roleIds disclose to that connection only': [
    `${agentSkills}: skillIds discloses those skills to that session only`,
    `${agentSkills}: roleIds discloses their skills`,
  ],

  // 5. Authentication
  '5.rule-1: Bearer; a header without the word is wrong': [
    `${agentKeys}: a ping with a good key is answered, without a session`,
    `${agentKeys}: a key without the word Bearer`,
  ],
  '5.rule-2: SVA_ current, USK older and valid': `${backendKeys}: keys of older installations are accepted`,
  '5.rule-3: WSK_ rejected everywhere': `${agentKeys}: a workspace key`,
  '5.rule-4: No accepted prefix: invalid': `${keyText}: a text that is not a key is refused by its form:`,
  '5.rule-5: A key belongs to one workspace': `${agentIsolation}: ids of the other workspace are refused like ids that are nowhere`,
  '5.rule-6: Past its expiration: Expired, 401': `${agentKeys}: an expired key, also when it was just in use`,
  '5.rule-7: Keys are created under Profile > API Keys': `${application}: creates a key, shows it once, and revokes it`,
  '5.rule-8: /health cannot test a key; ping on /mcp does': `${agentKeys}: /health lives whatever Authorization says, and is not a way to test a key`,
  '5.jwt: Signed by Ed25519, verified with the public key':
    'services/backend/tokens/verify-token.test.ts: a token signed with the previous key',
  '5.jwt-issuer: The issuer claim is JWT_ISSUER': `${boot}: JWT_ISSUER decides whose tokens are good`,
  '5.jwt-lifetimes: Lifetimes of access and refresh tokens': [
    tokenLifetimes,
    `${agentSignIn}: of an agent live as JWT_ACCESS_TOKEN_TTL and JWT_REFRESH_TOKEN_TTL say`,
  ],
  '5.oauth-server: The backend is an OAuth authorization server': [
    `${agentSignIn}: a client of MCP finds the way by itself, and calls a tool after the consent`,
    `${signInOfOthers}: the conformance suite of MCP, and every check of its authorization server passes`,
    `${agentSignIn}: %s says what clients need`,
  ],
  '5.runtime: Exactly one form of identity; USER_KEY and MCP_REMOTE_ENABLED are rejected': [
    `${envCheck}: the identity of a runtime`,
    `${envCheck}: removed variables`,
  ],
  '5.remote-mcp: SYSTEM_KEY only': `${envCheck}: removed variables`,
  '5.encryption: ENCRYPTION_KEY: 64 hex characters; not the development one in production': `${envCheck}: of development is refused in production only`,
  '5.origins: Allowed origins, DNS rebinding, CORS_ORIGINS': [
    `${transport}: without a list every origin is refused, and requests without one are not`,
    `${backendServer}: any other may not`,
  ],
  '5.tls: TLS is advised for bus and graph':
    'services/kit/bus/nats/server.test.ts: over TLS, whose authority must be known',
  '5.integrations: Scopes, exact redirect URI, Reconnect': [
    `${integrations}: asks for PKCE, the resource and the scopes of the challenge`,
    `${integrations}: for a redirect URI that is registered differently, by the provider itself`,
    `${integrations}: expire when the provider refuses to renew them, and Reconnect repairs it`,
  ],

  // 6. Events
  '6.heartbeat: A heartbeat every HEARTBEAT_INTERVAL': `${runtimeBus}: a runtime sends a heartbeat every HEARTBEAT_INTERVAL`,
  '6.mail: Outbound e-mail through the configured provider':
    'services/backend/mail/mail.contract.ts: delivers a mail once, with its address, subject and link',

  // 7. Errors
  '7.key: Missing, invalid or expired key: 401': [
    `${agentKeys}: no Authorization header`,
    `${agentKeys}: a key that nobody created`,
    `${agentKeys}: an expired key, also when it was just in use`,
  ],
  '7.forbidden: 403 on agent connection': [
    `${agentKeys}: a suspended workspace, at once and until it is not suspended any more`,
    `${agentSignIn}: the agent of a suspended member answers 403`,
  ],
  '7.bearer: No Bearer word: 401': `${agentKeys}: a key without the word Bearer`,
  '7.redirect: Redirect URI differs': [
    `${integrations}: for a redirect URI that is registered differently, by the provider itself`,
    `${integrationsPage}: a refusal is explained, and its code and state leave the address`,
    `${agentSignIn}: nobody is sent to the unregistered address %s`,
  ],
  '7.oauth-token: Expired OAuth token': `${integrations}: expire when the provider refuses to renew them, and Reconnect repairs it`,
  '7.runtime-rejected: USER_KEY or MCP_REMOTE_ENABLED: rejected at boot': `${runtimeSettings}: as a separate process it ends at the boot with %s, and says why`,
  '7.remote-mcp-rejected: RUNTIME_KEY or RUNTIME_NAME: rejected at boot': `${agentLifecycle}: it does not start with a wrong %s, and says so`,
  '7.runtime-identity: Neither RUNTIME_KEY nor SYSTEM_KEY plus RUNTIME_NAME': [
    `${envCheck}: the identity of a runtime`,
    `${runtimeSettings}: no identity`,
  ],
  '7.encryption-key: No ENCRYPTION_KEY: required variable missing': `${boot}: with every fault in one message`,
  '7.disconnected: Tools of a Disconnected MCP server: unavailable': [
    `${agentSkills}: list_skills`,
    `${agentSkills}: is noticed at once when its runtime ends`,
  ],
  '7.origin: Origin not allowed: refused': `${transport}: without a list every origin is refused, and requests without one are not`,

  // 8. Limits and variables
  '8.file-access: File access is limited to SVC_ALLOWED_PATHS': files,
  ...variableRequirements,

  // 9. Versioning
  '9.prefixes: SVA_, USK, and WSK_ no longer': [
    `${agentKeys}: a workspace key`,
    `${backendKeys}: keys of older installations are accepted`,
  ],
  '9.modes: USER_KEY and MCP_REMOTE_ENABLED rejected; SKILL_IDS and ROLE_IDS not read': [
    `${envCheck}: removed variables`,
    `${variablesTest}: runtime SKILL_IDS`,
  ],
  '9.separate: The public endpoint is a service of its own': `${wholePath}: sees the constant tools, finds a skill, loads it and calls its tools`,
};
