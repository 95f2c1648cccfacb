/** What shows a requirement: `file: title` of tests, or `later: …`. A test of a variable changes it and observes the service. */
export type Shown = readonly string[] | `later: ${string}`;

/** Test files and reasons that rows of several tables name. */
export const variablesTest = 'stack/test/variables.test.ts';
export const wholePath = 'stack/test/whole-path.test.ts';
export const agentLifecycle = 'services/remote-mcp/test/lifecycle.test.ts';
export const runtimeSettings = 'services/runtime/test/settings.test.ts';
export const agentSessions = 'services/remote-mcp/test/sessions.test.ts';
export const transport = 'services/remote-mcp/test/transport.test.ts';
export const backendServer = 'services/backend/test/server.test.ts';
export const boot = 'services/backend/test/boot.test.ts';
export const runtimeBus = 'services/runtime/test/bus.test.ts';
export const frontend = 'services/frontend/frontend.test.ts';

export const authorizationServer = 'later: comes with the authorization server';
export const mail = 'later: comes with invitations, the first thing that sends mail';
export const files = 'later: comes with files of MCP servers';
