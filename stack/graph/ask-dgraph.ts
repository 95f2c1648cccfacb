import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { SvcError } from '../../services/contracts/errors.ts';
import { request } from '../client/http.ts';
import { parseJson } from '../machine/parse-json.ts';

export interface Dgraph {
  readonly url: string;
  /** Certificate authority of its TLS certificate, in PEM form. */
  readonly ca?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Credentials of a request: the access token of a user, the token of the administration. */
export interface Credentials {
  readonly access?: string;
  readonly token?: string;
}

/** After a start, a node answers only once it has found its group, which takes seconds. */
const answerTimeoutMs = 15_000;

const answer = z.object({
  data: z.unknown().optional(),
  errors: z.array(z.object({ message: z.string() })).optional(),
});

/** Posts JSON and returns the `data` of the answer. Throws `unavailable` with the refusal of Dgraph. */
export async function askDgraph(
  { url, ca, signal }: Dgraph,
  path: string,
  body: unknown,
  { access, token }: Credentials = {},
): Promise<unknown> {
  const answered = await request({
    method: 'POST',
    url: new URL(path, url).href,
    headers: {
      'content-type': 'application/json',
      ...(access === undefined ? {} : { 'x-dgraph-accesstoken': access }),
      ...(token === undefined ? {} : { 'x-dgraph-authtoken': token }),
    },
    body: JSON.stringify(body),
    ca,
    timeoutMs: answerTimeoutMs,
    signal,
  });
  const read = answer.safeParse(parseJson(answered.body)).data;
  if (read === undefined) {
    const why = 'another program listens there, or Dgraph is starting';
    throw new SvcError('unavailable', `The answer is not one of Dgraph: ${why}.`);
  }
  const [error] = read.errors ?? [];
  if (error !== undefined) throw new SvcError('unavailable', `Dgraph answered: ${error.message}`);
  return read.data;
}

const seen = z.object({ seen: z.array(z.unknown()).optional() });

/** Whether these credentials may read data. Without the right, the answer has no `seen`. */
export async function mayRead(dgraph: Dgraph, shown: Credentials): Promise<boolean> {
  const query = '{ seen(func: has(svc.nothing)) { uid } }';
  return seen.parse(await askDgraph(dgraph, '/query', { query }, shown)).seen !== undefined;
}

/** Long enough for the requests of one start. */
const lifetime = '5m';

/** An access token as Dgraph signs it after a login (JWT, RFC 7519, HS256), with a key of the installation. */
export async function accessToken(
  aclKeyFile: string,
  { user, groups }: { readonly user: string; readonly groups: readonly string[] },
): Promise<string> {
  const claims = { userid: user, groups, namespace: 0 };
  // Loaded on use: most platforms have no Dgraph.
  const { SignJWT } = await import('jose');
  const unsigned = new SignJWT(claims).setProtectedHeader({ alg: 'HS256', typ: 'JWT' }).setExpirationTime(lifetime);
  // Dgraph uses the whole file as its key, the line end included.
  return await unsigned.sign(readFileSync(aclKeyFile));
}
