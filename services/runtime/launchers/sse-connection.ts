import { settledWithin } from '../time/settled-within.ts';
import type { ChannelListener } from './channel.ts';
import { isEventStream, quoteBody, readMessages } from './http-body.ts';
import type { HttpEndpoint, Terms } from './http-endpoint.ts';
import { isSuccess } from './http-status.ts';

export interface SseOptions {
  readonly endpoint: HttpEndpoint;
  readonly listener: Pick<ChannelListener, 'message' | 'garbage'>;
  readonly signal: AbortSignal;
  /** The stream ended after it had opened: the session ended with it. */
  readonly onEnd: (error: unknown) => void;
}

/** An open connection over HTTP+SSE: messages are posted to one address, and every answer arrives on one stream. */
export interface SseConnection {
  /** The address for messages, as path and query at the origin of the MCP server's URL. */
  readonly messages: string;
}

export type SseOpening =
  | { readonly kind: 'open'; readonly connection: SseConnection }
  /** The MCP server named an address of another origin: headers and messages would leave their host. */
  | { readonly kind: 'foreign' }
  | { readonly kind: 'not offered' };

/** The address is the first event, which needs no work. */
const addressMaxMs = 10_000;
const addressMaxBytes = 4096;

/** The older transport has neither sessions nor revisions in headers. */
export const noTerms: Terms = Object.freeze({ session: null, revision: null });

/** Opens the stream of the transport HTTP+SSE (MCP 2024-11-05, "HTTP with SSE"). Throws when the connection breaks. */
export async function openSse({ endpoint, listener, signal, onEnd }: SseOptions): Promise<SseOpening> {
  const response = await endpoint.request({ method: 'GET', terms: noTerms, signal });
  if (!isSuccess(response.statusCode ?? 0) || !isEventStream(response)) {
    await quoteBody(response);
    return { kind: 'not offered' };
  }
  const { promise: named, resolve: name } = Promise.withResolvers<Buffer>();
  const reading = readMessages(response, {
    message: (text) => void listener.message(text, null),
    overlong: (bytes) => listener.garbage(`an event of ${bytes} bytes`),
    endpoint: name,
  });
  const ended = reading.then(
    () => null,
    (error: unknown) => error,
  );
  await settledWithin(Promise.race([named, ended]), addressMaxMs);
  const data = await Promise.race([named, Promise.resolve(null)]);
  const address = data === null ? { kind: 'not offered' as const } : findAddress(data, endpoint.url);
  if (address.kind !== 'open') response.destroy();
  else void ended.then(onEnd);
  return address;
}

function findAddress(data: Buffer, url: URL): SseOpening {
  const text = data.toString('utf8');
  if (data.length > addressMaxBytes || !URL.canParse(text, url)) return { kind: 'not offered' };
  const { origin, pathname, search } = new URL(text, url);
  if (origin !== url.origin) return { kind: 'foreign' };
  return { kind: 'open', connection: { messages: `${pathname}${search}` } };
}
