import type { FastifyInstance, FastifyRequest } from 'fastify';
import type Provider from 'oidc-provider';
import { z } from 'zod';
import type { AgentRequest, InteractionAnswers } from '../../contracts/browser-answers.ts';
import { SvcError } from '../../contracts/errors.ts';
import { parseId, type WorkspaceId } from '../../contracts/ids.ts';
import { isLocalHost } from '../../contracts/local-host.ts';
import { shownLine } from '../../contracts/shown-text.ts';
import { type AgentScope, agentScopes, connectPath, readScope } from '../../contracts/token.ts';
import {
  type AccountCallers,
  type AccountRequest,
  type AccountRoutes,
  addBrowserRoute,
  createAccountRoutes,
} from '../accounts/account-route.ts';
import { findSignedIn } from '../accounts/signed-in-person.ts';
import { parseRoles, rolesPerKeyMax } from '../keys/key-fields.ts';
import { getAccess } from '../members/access.ts';
import type { UserPrincipal } from '../tokens/verify-token.ts';
import { selectMemberships } from '../workspaces/find-workspaces.ts';
import { noteClientUse } from './clients.ts';
import { connectAgent } from './connected-agents.ts';
import { hasInteraction } from './interaction-cookie.ts';
import type { OauthNeeds } from './oauth-needs.ts';

const workspacesMax = 100;
const nameLengthMax = 100;
const descriptionLengthMax = 200;
const path = `${connectPath}/interaction/:uid`;
const ofWorkspace = z.object({ workspace: z.string().max(60) });
const consent = ofWorkspace.extend({
  roles: z.array(z.string().max(60)).max(rolesPerKeyMax).nullable(),
  scope: z.enum(agentScopes),
});

interface InteractionNeeds {
  readonly backend: OauthNeeds;
  readonly authorizationServer: () => Promise<Provider>;
  readonly callers: AccountCallers;
}

/** What the page of the consent asks, with the cookies of the person. */
export function addInteractions(
  app: FastifyInstance,
  { backend, authorizationServer, callers }: InteractionNeeds,
): void {
  createAccountRoutes(app, callers, (account) => {
    addInteraction(account, '', z.object({}), async ({ request }) => {
      const principal = await requirePerson(backend, request);
      const provider = await authorizationServer();
      const interaction = await getInteraction(backend, provider, request);
      return await describeInteraction(backend, provider, { principal, interaction });
    });

    addInteraction(account, 'roles', ofWorkspace, async ({ request, body }) => {
      const principal = await requirePerson(backend, request);
      await getInteraction(backend, await authorizationServer(), request);
      return await offeredRoles(backend, principal, parseId('workspace', body.workspace));
    });

    addInteraction(account, 'consent', consent, async ({ request, body }) => {
      const principal = await requirePerson(backend, request);
      const provider = await authorizationServer();
      const interaction = await getInteraction(backend, provider, request);
      const client = await clientOf(provider, interaction);
      const { scope } = body;
      if (!offeredScopes(interaction).includes(scope)) {
        throw new SvcError('invalid_input', `The agent did not ask for the scope "${scope}".`);
      }
      const grant = new provider.Grant({ accountId: principal.user, clientId: client.id });
      grant.addResourceScope(backend.config.PUBLIC_MCP_URL, scope);
      const grantId = await grant.save();
      try {
        const workspace = parseId('workspace', body.workspace);
        await connectAgent(backend, {
          principal,
          workspace,
          roles: parseRoles(body.roles),
          client,
          scope,
          grant: grantId,
        });
      } catch (error) {
        await grant.destroy();
        throw error;
      }
      await noteClientUse(backend, client.id);
      interaction.params.scope = scope;
      interaction.result = { login: { accountId: principal.user, remember: false }, consent: { grantId } };
      await interaction.persist();
      return { redirect: interaction.returnTo };
    });

    addInteraction(account, 'refuse', z.object({}), async ({ request }) => {
      await requirePerson(backend, request);
      const provider = await authorizationServer();
      const interaction = await getInteraction(backend, provider, request);
      interaction.result = { error: 'access_denied', error_description: 'The person refused.' };
      await interaction.persist();
      return { redirect: interaction.returnTo };
    });
  });
}

function addInteraction<Path extends keyof InteractionAnswers, Body>(
  account: AccountRoutes,
  name: Path,
  shape: z.ZodType<Body>,
  answer: (request: AccountRequest<Body>) => Promise<InteractionAnswers[Path]>,
): void {
  addBrowserRoute(account, name === '' ? path : `${path}/${name}`, shape, answer);
}

type Interaction = InstanceType<Provider['Interaction']>;

async function requirePerson(backend: OauthNeeds, { headers }: FastifyRequest): Promise<UserPrincipal> {
  const principal = await findSignedIn(backend, headers);
  if (principal !== null) return principal;
  throw new SvcError('unauthenticated', 'You are not signed in.', { hint: 'Sign in, then connect the agent.' });
}

/** The interaction that this browser began, and that nobody has answered. */
async function getInteraction(backend: OauthNeeds, provider: Provider, request: FastifyRequest): Promise<Interaction> {
  const { uid } = request.params as { readonly uid: string };
  const interaction = hasInteraction(backend, request.headers, uid) ? await provider.Interaction.find(uid) : undefined;
  if (interaction === undefined) {
    throw new SvcError('not_found', 'This browser has no such request of an agent, or the request has expired.', {
      hint: 'Start the sign-in again in the agent.',
    });
  }
  if (interaction.result !== undefined) {
    throw new SvcError('conflict', 'The request of the agent is answered already.');
  }
  return interaction;
}

/** The scope that the agent asked for, and the narrower one. */
function offeredScopes({ params }: Interaction): readonly AgentScope[] {
  return params.scope === readScope ? [readScope] : agentScopes;
}

interface Client {
  readonly id: string;
  readonly name: string;
}

async function clientOf(provider: Provider, { params }: Interaction): Promise<Client> {
  const found = await provider.Client.find(String(params.client_id));
  if (found === undefined) throw new SvcError('not_found', 'The agent is no longer registered.');
  const { clientId: id, clientName: name } = found;
  // Clients choose any name, also one with hidden characters.
  return { id, name: shownLine(name ?? id, nameLengthMax) };
}

async function describeInteraction(
  backend: OauthNeeds,
  provider: Provider,
  { principal, interaction }: { readonly principal: UserPrincipal; readonly interaction: Interaction },
): Promise<AgentRequest> {
  const { id: _id, ...client } = await clientOf(provider, interaction);
  const redirect = new URL(String(interaction.params.redirect_uri));
  const { memberships } = await selectMemberships(backend, principal, { limit: workspacesMax });
  const workspaces = memberships.flatMap(({ workspace: { id, name, suspended } }) => (suspended ? [] : [{ id, name }]));
  return {
    client: { ...client, redirectHost: shownTarget(redirect), isLocal: isLocal(redirect) },
    scopes: offeredScopes(interaction),
    workspaces,
  };
}

/** Of the chosen workspace alone: all roles of all workspaces would be a large answer. */
async function offeredRoles(
  backend: OauthNeeds,
  principal: UserPrincipal,
  workspace: WorkspaceId,
): Promise<InteractionAnswers['roles']> {
  await getAccess(backend.graph, { principal, workspace, right: 'read' });
  const page = { type: 'role', anchor: workspace, orderBy: 'name', limit: rolesPerKeyMax } as const;
  const { nodes, next } = await backend.graph.select(page);
  const roles = nodes.map(({ id, name, description }) => ({
    ...{ id, name, description: shownLine(description, descriptionLengthMax) },
  }));
  return { roles, hasMore: next !== null };
}

/** A scheme of a program on this machine may have any host behind it, also one that looks like a well-known site. */
function shownTarget({ protocol, host }: URL): string {
  return ['https:', 'http:'].includes(protocol) ? host : `${protocol}//${host}`;
}

/** A program on this person's machine. Any such program could name itself like this client. */
function isLocal(url: URL): boolean {
  return url.protocol !== 'https:' && (url.protocol !== 'http:' || isLocalHost(url));
}
