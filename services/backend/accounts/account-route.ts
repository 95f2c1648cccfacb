import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import type { AccountAnswers } from '../../contracts/browser-answers.ts';
import { SvcError } from '../../contracts/errors.ts';
import { accountPath } from '../../contracts/token.ts';
import { responseClosed } from '../../kit/http/response-closed.ts';
import { requireBrowser } from '../http/cross-origin.ts';
import type { Strangers } from '../limits/strangers.ts';

const smallAnswerChars = 16 * 1024;
/** Of a text in memory, at most. */
const bytesOfChar = 2;
/** The callers that the routes admit. */
export interface AccountCallers {
  readonly origins: readonly string[];
  readonly strangers: Strangers;
}

export interface AccountRoutes extends AccountCallers {
  readonly routes: FastifyInstance;
}

/** Registers routes that browsers use without a token. Only pages of the permitted origins may use them. */
export function createAccountRoutes(
  app: FastifyInstance,
  callers: AccountCallers,
  add: (account: AccountRoutes) => void,
): void {
  app.register(async (routes) => {
    routes.removeAllContentTypeParsers();
    // The handler reads the body. Another content type could be sent by a form of any site.
    routes.addContentTypeParser('application/json', (_request, _body, done) => done(null));
    routes.addHook('onRequest', async (request) => requireBrowser(request, callers.origins));
    add({ ...callers, routes });
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
  { routes, strangers }: AccountRoutes,
  path: string,
  shape: z.ZodType<Body>,
  answer: Answer<Body, Given>,
): void {
  routes.post(path, async (request, reply) => {
    const network = strangers.networkOf(request);
    const { body, held } = await strangers.hold(request);
    try {
      const answered = await answer({ body: parse(shape, body), network, request, reply });
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
