/**
 * Tokens that the backend accepts for GraphQL: EdDSA JWTs signed with the installation's key, issuer JWT_ISSUER. The
 * command line makes `operator` tokens from that key; a `session` token belongs to a user (`sub`).
 */
export const tokenAudience = 'svc-backend';
/**
 * Audience of a token for remote-mcp, of an operator or of a person who tries tools in a page. It names its workspace,
 * and the backend refuses it for GraphQL.
 */
export const mcpTokenAudience = 'svc-mcp';
export const workspaceClaim = 'workspace';
export const tokenKindClaim = 'kind';
export const tokenKinds = ['operator', 'session'] as const;
export type TokenKind = (typeof tokenKinds)[number];
/** An operator token is valid for one command. */
export const operatorTokenLifetimeSeconds = 300;
/** A page asks for another one while a person tries tools. */
export const toolTokenLifetimeSeconds = 300;
/** Claim of a `session` token: the id of the browser's session. */
export const sessionClaim = 'sid';
/** Claim of an agent's access token: the key that stands for the connected agent. */
export const keyClaim = 'key';
/** Type of an agent's access token (RFC 9068 §2.1), so that no other token of this platform passes for one. */
export const agentTokenType = 'at+jwt';
/** Scopes of agents, within the roles that the person chose. `tools` includes `tools:read`: tools that change nothing. */
export const toolsScope = 'tools';
export const readScope = 'tools:read';
export const agentScopes = [toolsScope, readScope] as const;
export type AgentScope = (typeof agentScopes)[number];
export const graphqlPath = '/graphql';
/** Prefix of the paths that sign people in and out. */
export const accountPath = '/account';
/** Prefix of the paths of the authorization server. */
export const connectPath = '/connect';
export const jwksPath = '/.well-known/jwks.json';
