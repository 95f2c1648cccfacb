import { z } from 'zod';
import { SvcError } from '../../services/contracts/errors.ts';
import { request } from '../client/http.ts';

export interface Dgraph {
  /** Its HTTP endpoint. */
  readonly url: string;
  /** PEM that vouches for it. */
  readonly ca?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** What is shown with a question: an access token of a user, the token of the administration. */
export interface Credentials {
  readonly access?: string;
  readonly token?: string;
}

/** A query waits until its node has found its group, which takes seconds after a start. */
const answerTimeoutMs = 15_000;

const answer = z.object({
  data: z.unknown().optional(),
  errors: z.array(z.object({ message: z.string() })).optional(),
});

/** Posts JSON and returns the `data` of the answer. Throws `unavailable` with what Dgraph says where it refuses. */
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
  const { data, errors } = read(answered.body);
  const [error] = errors ?? [];
  if (error !== undefined) throw new SvcError('unavailable', `Dgraph answered: ${error.message}`);
  return data;
}

function read(body: string): z.infer<typeof answer> {
  try {
    return answer.parse(JSON.parse(body));
  } catch (error) {
    throw new SvcError('unavailable', 'What answers is not Dgraph, or is only starting.', { cause: error });
  }
}
