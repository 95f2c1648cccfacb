/**
 * Tokens that the backend accepts for GraphQL: EdDSA JWTs signed with the installation's key, issuer JWT_ISSUER.
 * `operator` is minted by the command line from that key for whoever runs the installation; `session` belongs to a user (`sub`).
 */
export const tokenAudience = 'svc-backend';
export const tokenKindClaim = 'kind';
export const tokenKinds = ['operator', 'session'] as const;
export type TokenKind = (typeof tokenKinds)[number];
/** An operator token lives just long enough for one command. */
export const operatorTokenLifetimeSeconds = 300;
export const graphqlPath = '/graphql';
export const jwksPath = '/.well-known/jwks.json';
