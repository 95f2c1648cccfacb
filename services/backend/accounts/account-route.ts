import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import type { AddressBlock } from '../../contracts/address-block.ts';
import type { AccountAnswers } from '../../contracts/browser-answers.ts';
import { SvcError } from '../../contracts/errors.ts';
import { accountPath } from '../../contracts/token.ts';
import { Budget } from '../../kit/budget.ts';
import { clientAddress } from '../../kit/http/client-address.ts';
import { readBody } from '../../kit/http/read-body.ts';
import { responseClosed } from '../../kit/http/response-closed.ts';
import { networkOf } from '../../kit/network-of.ts';
import { requireBrowser } from '../http/cross-origin.ts';

/** A response to a passkey is the largest body: some kilobytes. */
const bodyMaxBytes = 16 * 1024;
const mebibyte = 1024 * 1024;
/** Strangers send these bodies, so one network gets a part of the memory only. */
const memoryLimits = { total: 16 * mebibyte, shares: { network: 4 * mebibyte } };
const smallAnswerChars = 16 * 1024;
/** Of a text in memory, at most. */
const bytesOfChar = 2;
/** A small body arrives at once: this is 1 KiB a second. */
const slowest = { bytes: 5 * 1024, periodMs: 5000 };

/** The callers that the routes admit. */
export interface AccountCallers {
  readonly origins: readonly string[];
  readonly trustedProxies: readonly AddressBlock[];
}

export interface AccountRoutes extends AccountCallers {
  readonly routes: FastifyInstance;
  readonly memory: Budget<'network'>;
}

/** Registers routes that browsers use without a token. Only pages of the permitted origins may use them. */
export function createAccountRoutes(
  app: FastifyInstance,
  callers: AccountCallers,
  add: (account: AccountRoutes) => void,
): void {
  const hint = 'Wait for the answers to earlier requests.';
  const memory = new Budget({ what: 'bytes of memory', hint, ...memoryLimits });
  app.register(async (routes) => {
    routes.removeAllContentTypeParsers();
    // The handler reads the body. Another content type could be sent by a form of any site.
    routes.addContentTypeParser('application/json', (_request, _body, done) => done(null));
    routes.addHook('onRequest', async (request) => requireBrowser(request, callers.origins));
    add({ ...callers, routes, memory });
  });
}

export interface AccountRequest<Body> {
  readonly body: Body;
  /** The client's network, by which failures and waiting work are counted. */
  readonly network: string;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

type Answer<Body, Given> = (request: AccountRequest<Body>) => Promise<Given>;

/** `POST /account/PATH`. */
export function addAccountRoute<Path extends keyof AccountAnswers, Body>(
  account: AccountRoutes,
  path: Path,
  shape: z.ZodType<Body>,
  answer: Answer<Body, AccountAnswers[Path]>,
): void {
  addBrowserRoute(account, `${accountPath}/${path}`, shape, answer);
}

/** The body of the POST is checked by `shape`; an answer of null has the status 204. */
export function addBrowserRoute<Body, Given extends object | null>(
  { routes, memory, trustedProxies }: AccountRoutes,
  path: string,
  shape: z.ZodType<Body>,
  answer: Answer<Body, Given>,
): void {
  routes.post(path, async (request, reply) => {
    const network = networkOf(clientAddress(request.raw, trustedProxies));
    const held = memory.hold({ network }, 0);
    try {
      checkLength(request);
      const bytes = await readBody(request.raw, held, slowest);
      if (bytes === null) throw new SvcError('cancelled', 'The client left before its body had arrived.');
      const answered = await answer({ body: parse(shape, bytes), network, request, reply });
      reply.header('cache-control', 'no-store');
      if (answered === null) return reply.code(204).send();
      const text = JSON.stringify(answered);
      // A small answer is never refused: its sign-in is done.
      if (text.length > smallAnswerChars) held.resize(text.length * bytesOfChar);
      reply.type('application/json').send(text);
      await responseClosed(reply.raw);
      return reply;
    } finally {
      held.release();
    }
  });
}

function checkLength({ headers }: FastifyRequest): void {
  const length = Number(headers['content-length']);
  if (length <= bodyMaxBytes) return;
  throw Number.isNaN(length)
    ? new SvcError('invalid_input', 'The request has no Content-Length.')
    : new SvcError('too_large', `The body is above the limit of ${bodyMaxBytes} bytes.`);
}

/** A refusal names the field and never quotes a value, which may be a password. */
function parse<Body>(shape: z.ZodType<Body>, bytes: Buffer): Body {
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString());
  } catch {
    throw new SvcError('invalid_input', 'The body is not JSON.');
  }
  const parsed = shape.safeParse(value);
  if (parsed.success) return parsed.data;
  const field = parsed.error.issues[0]?.path.join('.') ?? '';
  throw new SvcError(
    'invalid_input',
    field === '' ? 'The body is not an object.' : `The field "${field}" is missing or wrong.`,
  );
}
