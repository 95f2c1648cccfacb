import type { Integration } from '../objects/integrations.ts';
import { reasonsOf } from './reason.ts';
import { details, facts, spare, table } from './table.ts';
import type { Terminal } from './terminal.ts';
import { ago, span } from './times-and-sizes.ts';

const states = {
  connected: { colour: 'green', word: 'connected' },
  needs_authorization: { colour: 'yellow', word: 'needs authorization' },
  expired: { colour: 'red', word: 'expired' },
} as const;
const clients = {
  own: 'entered by an admin',
  dynamic: 'registered by the platform',
  document: 'the document of the platform',
} as const;

/** One row for each, and below them the problems. */
export function describeIntegrations(integrations: readonly Integration[], terminal: Terminal): string {
  if (integrations.length === 0) {
    return 'There are no integrations yet. An MCP server with a URL that asks for authorization becomes one by itself.';
  }
  const rows = integrations.map((one) => [
    one.name,
    paintState(one, terminal),
    one.issuer ?? '–',
    one.scopes.join(' ') || '–',
    endOf(one),
  ]);
  const problems = reasonsOf(integrations.map(({ name, problem }) => ({ name, reason: problem })));
  return [
    table(['MCP SERVER', 'STATE', 'PROVIDER', spare('SCOPES'), 'TOKEN ENDS'], rows, terminal.columns),
    ...(problems.length === 0 ? [] : [details(problems, terminal)]),
  ].join('\n\n');
}

/** One in lines of "what  value". */
export function describeIntegration(integration: Integration, terminal: Terminal): string {
  const { id, name, issuer, client, clientId, scopes, wantedScopes, connectedAt, refreshedAt, problem } = integration;
  const rows: [string, string][] = [
    ['mcp server', name],
    ['id', id],
    ['state', paintState(integration, terminal)],
    ['provider', issuer ?? 'known after the first connection'],
    ['scopes', scopes.join(' ') || 'none yet'],
  ];
  if (wantedScopes.length > 0) rows.push(['next scopes', wantedScopes.join(' ')]);
  if (client !== null) rows.push(['client', clientId === null ? clients[client] : `${clientId} (${clients[client]})`]);
  rows.push(['connected', connectedAt === null ? 'not yet' : ago(connectedAt)]);
  if (integration.state === 'connected') rows.push(['token ends', endOf(integration)], ['renewed', ago(refreshedAt)]);
  rows.push(['redirect uri', integration.redirectUri]);
  if (problem !== null) rows.push(['problem', problem.message], ['repair', problem.repair]);
  return facts(rows, terminal);
}

function paintState({ state }: Integration, { paint }: Terminal): string {
  const { colour, word } = states[state];
  return paint(colour, word);
}

function endOf({ state, expiresAt }: Integration): string {
  if (state !== 'connected' || expiresAt === null) return '–';
  const leftMs = expiresAt - Date.now();
  return leftMs > 0 ? `in ${span(leftMs)}` : ago(expiresAt);
}
