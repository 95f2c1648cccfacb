import type { IncomingMessage } from 'node:http';
import { type RequestOptions, request } from 'node:https';
import { refuseAddress } from '../../kit/addresses/address-refused.ts';
import { type AddressRule, createAddressRule } from '../../kit/addresses/address-rule.ts';
import { createAllowedLookup, type Resolve } from '../../kit/addresses/allowed-lookup.ts';
import { resolveByDns } from '../../kit/addresses/resolve-by-dns.ts';
import { readAnswer } from '../http/read-answer.ts';
import { clientMetadata } from './client-metadata.ts';

const documentMaxBytes = 5 * 1024;
/** For the name, the connection and the document together. A person waits for it. */
const deadlineMs = 2500;

export interface DocumentSource {
  readonly rule: AddressRule;
  readonly resolve: Resolve;
  /** Authorities for tests; default: those of Node. */
  readonly ca?: string;
}

const publicSource: DocumentSource = { rule: createAddressRule([]), resolve: resolveByDns };

/**
 * Fetches a Client ID Metadata Document in place of oidc-provider. Strangers choose the URL, so the connection goes to
 * public addresses only, over https, and follows no redirect.
 */
export async function fetchDocument(
  from: URL | RequestInfo,
  _options?: unknown,
  source: DocumentSource = publicSource,
): Promise<Response> {
  const url = new URL(String(from));
  if (url.protocol !== 'https:') throw new Error('a client metadata document has an https URL');
  refuseAddress(source.rule, url.hostname);
  const { status, body, cacheControl } = await get(url, {
    signal: AbortSignal.timeout(deadlineMs),
    lookup: createAllowedLookup(source.rule, source.resolve),
    agent: false,
    headers: { accept: 'application/json' },
    ca: source.ca,
  });
  const headers = { 'content-type': 'application/json', 'cache-control': cacheControl };
  if (status !== 200) return new Response(null, { status: 502 });
  const document: unknown = JSON.parse(body);
  return new Response(JSON.stringify(clientMetadata(document, { keepsId: true })), { status: 200, headers });
}

interface Answer {
  readonly status: number;
  readonly body: string;
  readonly cacheControl: string;
}

function get(url: URL, options: RequestOptions): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const asking = request(url, options, (answer) => passAnswer(answer, url.host).then(resolve, reject));
    asking.on('error', reject).end();
  });
}

async function passAnswer(answer: IncomingMessage, host: string): Promise<Answer> {
  const body = String(await readAnswer(answer, { host, maxBytes: documentMaxBytes }));
  const { statusCode: status = 0, headers } = answer;
  return { status, body, cacheControl: headers['cache-control'] ?? '' };
}
