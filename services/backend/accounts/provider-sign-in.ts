import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { SvcError } from '../../contracts/errors.ts';
import { newId, parseId } from '../../contracts/ids.ts';
import type { ProviderRefusal } from '../../contracts/provider-refusal.ts';
import { accountPath } from '../../contracts/token.ts';
import type { WithLog } from '../bus/with-bus.ts';
import type { Node, Transaction } from '../graph/graph.ts';
import { FairQueue } from '../limits/fair-queue.ts';
import type { Strangers } from '../limits/strangers.ts';
import { type AddressConfig, cookie, readCookie, writeCookie } from './cookies.ts';
import {
  newProviderChecks,
  type ProvenIdentity,
  type Provider,
  providerCallbackPath,
  type WithProvider,
} from './provider.ts';
import { seal, sealedMaxAgeMs, unseal } from './sealed.ts';
import { type SignInNeeds, signIn } from './sign-in.ts';

/** Requests to the provider at once. Networks take turns, so that a flood of false codes delays nobody else for long. */
const queueOptions = { atOnce: 16, waitingMax: 256, waitingEachMax: 8, waitMaxMs: 10_000 };

const backLengthMax = 1000;

class Refused extends Error {
  readonly code: ProviderRefusal;

  constructor(code: ProviderRefusal, cause?: unknown) {
    super(code, cause === undefined ? undefined : { cause });
    this.code = code;
  }
}

export type ProviderNeeds = SignInNeeds & WithProvider & WithLog;

/** Two addresses that a browser visits. Each answer is a redirect, so that a person never sees an error in JSON. */
export function addProviderRoutes(app: FastifyInstance, backend: ProviderNeeds, strangers: Strangers): void {
  const queue = new FairQueue(queueOptions);
  const visit = (path: string, answer: (exchange: Exchange) => Promise<string>, backOf: WayBack) =>
    app.get(path, async (request, reply) => {
      reply.header('cache-control', 'no-store').header('referrer-policy', 'no-referrer');
      const to = await queue
        .run(strangers.networkOf(request), () => answer({ request, reply }))
        .catch((thrown: unknown) => refusalPage(backend, request, { thrown, back: backOf(backend, request) }));
      return reply.redirect(to, 303);
    });
  visit(`${accountPath}/provider`, (exchange) => begin(backend, exchange), askedWayBack);
  visit(providerCallbackPath, (exchange) => finish(backend, exchange), keptWayBack);
}

interface Exchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** The address of the page that the person signs in for; null for the first page. */
type WayBack = (backend: ProviderNeeds, request: FastifyRequest) => string | null;

async function begin(backend: ProviderNeeds, { request, reply }: Exchange): Promise<string> {
  const provider = getProvider(backend);
  const checks = newProviderChecks();
  const url = await provider.begin(checks).catch((thrown: unknown) => {
    throw new Refused('provider_unavailable', thrown);
  });
  const back = askedWayBack(backend, request);
  const sealed = seal(backend, JSON.stringify({ ...checks, back }), place);
  reply.header('set-cookie', writeCookie(cookieOf(backend), sealed, sealedMaxAgeMs / 1000));
  return url.href;
}

const checksShape = z.object({
  ...{ state: z.string(), nonce: z.string(), verifier: z.string() },
  back: z.string().nullable().default(null),
});

async function finish(backend: ProviderNeeds, { request, reply }: Exchange): Promise<string> {
  const provider = getProvider(backend);
  const checks = keptChecks(backend, request);
  if (checks === null) throw new Refused('expired');
  // Each sign-in has one chance, also when it fails.
  reply.header('set-cookie', writeCookie(cookieOf(backend), '', 0));
  const [, search = ''] = /^[^?]*(\?.*)$/.exec(request.url) ?? [];
  const identity = await provider.finish(search, checks).catch((thrown: unknown) => {
    throw new Refused('provider_refused', thrown);
  });
  const find = (transaction: Transaction) => findPerson(transaction, identity);
  await signIn(backend, { provenBy: 'provider', find }, { request, reply });
  return checks.back ?? `${backend.config.PUBLIC_FRONTEND_URL}/`;
}

function keptChecks(backend: ProviderNeeds, { headers }: FastifyRequest): z.infer<typeof checksShape> | null {
  const sealed = unseal(backend, readCookie(headers, cookieOf(backend)) ?? '', place);
  return sealed === null ? null : checksShape.parse(JSON.parse(sealed.value));
}

const keptWayBack: WayBack = (backend, request) => keptChecks(backend, request)?.back ?? null;

/** Any page can send a browser here, so the way back is only a page of the platform, and short enough for a cookie. */
const askedWayBack: WayBack = ({ config }, { query }) => {
  const { back } = query as { readonly back?: unknown };
  if (typeof back !== 'string' || back.length > backLengthMax) return null;
  const url = URL.parse(back, config.PUBLIC_FRONTEND_URL);
  return url?.origin === new URL(config.PUBLIC_FRONTEND_URL).origin ? url.href : null;
};

/** The first time, a verified address finds the person. From then on only the provider's own name of the person counts. */
async function findPerson(transaction: Transaction, identity: ProvenIdentity): Promise<Node<'user'>> {
  const { issuer, subject, email } = identity;
  const known = await transaction.findBy('identity', { issuer, subject }, null);
  if (known !== null) {
    const user = await transaction.find('user', parseId('user', known.user), null);
    if (user === null) throw new Refused('unknown_address');
    return user;
  }
  if (email === null) throw new Refused('address_not_verified');
  const user = await transaction.findBy('user', { email: email.trim().toLowerCase() }, null);
  if (user === null) throw new Refused('unknown_address');
  // Providers give an address to somebody else when its owner leaves.
  if ((await transaction.findBy('identity', { issuer, user: user.id }, null)) !== null)
    throw new Refused('other_identity');
  await transaction.create('identity', {
    id: newId('identity'),
    user: user.id,
    issuer,
    subject,
    createdAt: Date.now(),
  });
  return user;
}

function getProvider({ provider }: WithProvider): Provider {
  if (provider === null) throw new Refused('no_provider');
  return provider;
}

/** A bug is thrown on. */
function refusalPage(
  backend: ProviderNeeds,
  request: FastifyRequest,
  { thrown, back }: { readonly thrown: unknown; readonly back: string | null },
): string {
  const code = codeOf(thrown);
  if (code === null) throw thrown;
  const reason =
    thrown instanceof Error && thrown.cause instanceof Error ? thrown.cause.message.slice(0, 200) : undefined;
  backend.log('accounts').info({ request: request.id, code, reason }, 'refused a sign-in by the provider');
  const way = back === null ? '' : `&back=${encodeURIComponent(back)}`;
  return `${backend.config.PUBLIC_FRONTEND_URL}/sign-in?refused=${code}${way}`;
}

function codeOf(thrown: unknown): ProviderRefusal | null {
  if (thrown instanceof Refused) return thrown.code;
  const isBusy = thrown instanceof SvcError && ['rate_limited', 'unavailable'].includes(thrown.code);
  return isBusy ? 'provider_unavailable' : null;
}

const place = { node: 'browser', field: 'sign-in by the provider' } as const;

/** Lax, because the provider sends the browser back. */
function cookieOf(backend: AddressConfig) {
  return cookie(backend, { use: 'provider', sameSite: 'Lax' });
}
