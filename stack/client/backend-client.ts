import { z } from 'zod';
import { isErrorCode, SvcError } from '../../services/contracts/errors.ts';
import { isObject } from '../../services/contracts/is-object.ts';
import { oneLine } from '../../services/contracts/one-line.ts';
import { graphqlPath } from '../../services/contracts/token.ts';
import { isCode } from '../machine/is-code.ts';
import { parseJson } from '../machine/parse-json.ts';
import { readContainers } from '../state/containers-record.ts';
import { refuseCopy } from '../state/find-original.ts';
import { findRunning } from '../state/find-running.ts';
import type { Installation } from '../state/installation.ts';
import { type HttpAnswer, type HttpRequest, request } from './http.ts';
import { mintMcpToken, operatorTokens } from './operator-token.ts';
import { explainRefusedToken } from './refused-token.ts';

declare const shape: unique symbol;

/** A document of `operations.graphql`, with the types that the schema gives its variables and its answer. */
export interface Operation<Result, Variables> {
  readonly text: string;
  /** Only for the compiler. */
  readonly [shape]?: (variables: Variables) => Result;
}

export type BackendClient = ReturnType<typeof openBackendClient>;

export interface QueryOptions {
  readonly signal?: AbortSignal | undefined;
  /** Default 10 s. */
  readonly timeoutMs?: number;
}

const queryTimeoutMs = 10_000;
/** As long as the backend waits for an upload. */
const transferTimeoutMs = 30_000;

/** The client of an operator, who may also call tools at remote-mcp. */
export interface OperatorClient extends BackendClient {
  /** A token in place of an API key, for one workspace. */
  mcpToken(workspace: string): string;
}

/** A client of the running backend of this installation; `unavailable` when none runs. */
export async function connectToBackend(installation: Installation): Promise<OperatorClient> {
  refuseCopy(installation);
  const containers = readContainers(installation);
  if (containers?.isUp) return clientOf(installation, containers);
  const running = findRunning(installation);
  if (running === null) {
    throw new SvcError('unavailable', 'The platform is not running.', { hint: 'Start it: svc up' });
  }
  const { pid, record } = running;
  if (record !== null) return clientOf(installation, record);
  throw new SvcError('unavailable', `The platform runs (pid ${pid}), but state/ does not record its addresses.`, {
    hint: 'Repair it: svc up',
  });
}

/** What is known of a running platform, with either engine. */
export interface KnownPlatform {
  readonly services: readonly { readonly name: string; readonly url: string | null }[];
  readonly settings: Readonly<Record<string, string>>;
}

/** A client of the recorded backend, whatever svc.yaml says by now. */
export function clientOf(installation: Installation, { services, settings }: KnownPlatform): OperatorClient {
  const urls = services.flatMap(({ name, url }) => (isBackend(name) && url !== null ? [url] : []));
  if (urls.length === 0) throw new Error('a platform without a backend');
  const issuer = settings['backend JWT_ISSUER'];
  const mcpToken = (workspace: string) => mintMcpToken(installation, workspace, issuer);
  return { ...openBackendClient(urls, operatorTokens(installation, issuer)), mcpToken };
}

/** By its name: backend, backend-2, … */
export function isBackend(part: string): boolean {
  return /^backend(-\d+)?$/.test(part);
}

/** One of the backends at these addresses, which are equivalent. */
export function openBackendClient(urls: readonly string[], token: () => string) {
  /** The backend answers in the shape that its schema gives, or with an error. */
  async function send<Result, Variables extends Readonly<Record<string, unknown>>>(
    { text }: Operation<Result, Variables>,
    variables: Variables,
    { timeoutMs = queryTimeoutMs, signal }: QueryOptions = {},
  ): Promise<Result> {
    const answered = await askOne(urls, graphqlPath, {
      method: 'POST',
      headers: { authorization: `Bearer ${token()}`, 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify({ query: text, variables }),
      timeoutMs,
      signal,
    }).catch((error: unknown) => {
      throw /^\s*mutation\b/.test(text) ? withUnknownOutcome(error) : error;
    });
    return answerOf(dataOf(answered));
  }

  /** Puts bytes at an address from an answer, through the backend's local address. */
  async function upload(signedUrl: string, bytes: Uint8Array): Promise<void> {
    const { pathname, search } = new URL(signedUrl);
    const headers = { 'content-length': String(bytes.byteLength) };
    const asked = { method: 'PUT', headers, body: bytes, timeoutMs: transferTimeoutMs } as const;
    const { status, body } = await askOne(urls, pathname + search, asked);
    if (status !== 200) throw refusalOf(status, body);
  }

  /** Gets bytes from an address in an answer, through the backend's local address. */
  async function download(signedUrl: string): Promise<Uint8Array> {
    const { pathname, search } = new URL(signedUrl);
    const { status, body, bytes } = await askOne(urls, pathname + search, {
      method: 'GET',
      timeoutMs: transferTimeoutMs,
    });
    if (status !== 200) throw refusalOf(status, body);
    return bytes;
  }

  return { send, upload, download };
}

/** An unanswered change may have been made. An unsent one was not. */
function withUnknownOutcome(error: unknown): unknown {
  if (isRefused(error) || !(error instanceof SvcError)) return error;
  return new SvcError(error.code, `${error.message} The outcome of the change is unknown.`, {
    hint: 'Check the present state before you repeat it.',
    cause: error,
  });
}

/** A refused connection sent nothing, so the next backend is asked. */
async function askOne(
  [url = '', ...others]: readonly string[],
  path: string,
  question: Omit<HttpRequest, 'url'>,
): Promise<HttpAnswer> {
  try {
    return await request({ ...question, url: `${url}${path}` });
  } catch (error) {
    if (!isRefused(error)) throw error;
    if (others.length > 0) return askOne(others, path, question);
    const hint = 'Show the state and the reason: svc status';
    throw new SvcError('unavailable', `The backend is not running: ${error.message}`, { hint, cause: error.cause });
  }
}

function isRefused(error: unknown): error is SvcError {
  return error instanceof SvcError && isCode(error.cause, 'ECONNREFUSED');
}

/** The shape is the schema's, because the backend validated the operation. */
function answerOf<Result>(data: unknown): Result {
  if (!isObject(data)) throw new SvcError('unavailable', 'The backend answered an operation without data.');
  return data as Result;
}

const reason = z.object({ code: z.string(), hint: z.string() }).partial();

function errorOf(message: string, { code, hint }: z.infer<typeof reason>): SvcError {
  // The answer may quote texts of others.
  const told = hint === undefined ? {} : { hint: oneLine(hint) };
  return new SvcError(isErrorCode(code) ? code : 'internal', oneLine(message), told);
}

const answer = z.object({
  // Absent when the query itself was refused.
  data: z.unknown().optional(),
  errors: z.array(z.object({ message: z.string(), extensions: reason.default({}) })).default([]),
});

function dataOf({ status, body, dateMs }: HttpAnswer): unknown {
  const parsed = answer.safeParse(parseJson(body)).data;
  if (parsed === undefined) {
    throw new SvcError('unavailable', `The backend answered ${status} with something that is not GraphQL.`, {
      hint: 'Show the state: svc status, and svc logs backend',
    });
  }
  const [error] = parsed.errors;
  if (error === undefined) return parsed.data;
  throw explainRefusedToken(errorOf(error.message, error.extensions), { dateMs, whose: "the backend's" });
}

const refusal = z.object({ error: reason.extend({ message: z.string() }) });

function refusalOf(status: number, body: string): SvcError {
  const { error } = refusal.safeParse(parseJson(body)).data ?? {};
  if (error === undefined) return new SvcError('unavailable', `The backend answered ${status} for a file.`);
  return errorOf(error.message, error);
}
