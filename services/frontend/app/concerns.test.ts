import { expect, test } from 'vitest';
import { type Attention, concernsOf, hasMoreConcerns } from './concerns.ts';

const day = 24 * 60 * 60 * 1000;
const now = Date.UTC(2026, 10, 27);
const reason = { code: 'exited', message: 'It ended with code 1.', repair: 'Mend it.' };
const failing = { id: 'srv_1', name: 'crm', status: 'Error', reason, integration: null } as const;
const key = { id: 'key_1', name: 'laptop', client: null, state: 'valid', expiresAt: null, replaces: null } as const;

const base: Attention = {
  id: 'wsp_1',
  mcpServers: { nodes: [], pageInfo: { next: null } },
  integrations: { nodes: [], pageInfo: { next: null } },
  runtimes: { nodes: [] },
  ownKeys: [],
};
const told = (answer: Partial<Attention>, mayConfigure = true) =>
  concernsOf({ ...base, ...answer }, { mayConfigure, now });
const ofServer = (server: object) => ({ mcpServers: { ...base.mcpServers, nodes: [{ ...failing, ...server }] } });

test('without a failure there is no concern', () => {
  expect(told({ runtimes: { nodes: [{ id: 'rtm_1', name: 'office', available: true }] }, ownKeys: [key] })).toEqual([]);
});

test('an MCP server that fails leads to its panel, and for one without authorization to its integration', () => {
  expect(told(ofServer({}))).toMatchObject([
    {
      ...{
        title: 'The MCP server crm is Error',
        reason: 'It ended with code 1.',
        isMine: true,
        action: 'Repair',
        panel: 'srv_1',
      },
      place: '/w/$workspace/settings/mcp-servers',
    },
  ]);
  const waiting = { reason: { ...reason, code: 'needs_authorization' }, integration: { id: 'itg_1' } };
  expect(told(ofServer(waiting))).toMatchObject([
    { action: 'Connect', panel: 'itg_1', place: '/w/$workspace/settings/integrations' },
  ]);
});

test('an expired integration is a concern, once', () => {
  const expired = { id: 'itg_1', problem: null, mcpServer: { id: 'srv_1', name: 'crm' } } as const;
  const integrations = { nodes: [expired], pageInfo: { next: null } };
  expect(told({ integrations })).toMatchObject([
    { id: 'itg_1', action: 'Reconnect', place: '/w/$workspace/settings/integrations', panel: 'itg_1' },
  ]);
  expect(told({ ...ofServer({}), integrations }).map(({ id }) => id)).toEqual(['srv_1']);
});

test('a list that goes on may have more concerns', () => {
  const goesOn = { nodes: [], pageInfo: { next: 'x' } };
  expect(hasMoreConcerns(base)).toBe(false);
  expect(hasMoreConcerns({ ...base, mcpServers: goesOn })).toBe(true);
  expect(hasMoreConcerns({ ...base, integrations: goesOn })).toBe(true);
});

test('what only admins can mend is not a concern of the person, and comes behind those that are', () => {
  const expired = { ...key, state: 'expired', expiresAt: now - day } as const;
  const runtimes = { nodes: [{ id: 'rtm_1', name: 'office', available: false }] };
  const concerns = told({ ...ofServer({}), runtimes, ownKeys: [expired] }, false);
  expect(concerns.map(({ id, isMine, action }) => [id, isMine, action])).toEqual([
    ['key_1', true, 'Change expiry'],
    ['srv_1', false, 'Show'],
    ['rtm_1', false, 'Show'],
  ]);
});

test.each([
  ['that expired', { state: 'expired', expiresAt: now - 1 }, 'bad'],
  ['that expires within a week', { expiresAt: now + 7 * day }, 'warn'],
] as const)('a key %s is a concern', (_which, fields, tone) => {
  expect(told({ ownKeys: [{ ...key, ...fields }] })).toMatchObject([{ id: 'key_1', tone }]);
});

test.each([
  ['that expires later', [{ ...key, expiresAt: now + 7 * day + 1 }]],
  ['of a connected agent', [{ ...key, client: 'x', expiresAt: now + day }]],
  [
    'that another one replaces',
    [
      { ...key, expiresAt: now + day },
      { ...key, id: 'key_2', replaces: { id: 'key_1' } },
    ],
  ],
])('a key %s is none', (_which, ownKeys) => expect(told({ ownKeys })).toEqual([]));
