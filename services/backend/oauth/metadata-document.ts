import { createAddressRule } from '../../kit/addresses/address-rule.ts';
import { resolveByDns } from '../../kit/addresses/resolve-by-dns.ts';
import { createGuardedFetch, type Reach } from '../http/guarded-fetch.ts';
import { clientMetadata } from './client-metadata.ts';

const answerMaxBytes = 5 * 1024;
/** For the name, the connection and the document together. A person waits for it. */
const deadlineMs = 2500;
const publicReach: Reach = { rule: createAddressRule([]), resolve: resolveByDns };

/**
 * Fetches a Client ID Metadata Document in place of oidc-provider. Strangers choose the URL, so the connection goes to
 * public addresses only, over https, and follows no redirect.
 */
export async function fetchDocument(url: string, reach = publicReach): Promise<Response> {
  if (!url.startsWith('https:')) throw new Error('a client metadata document has an https URL');
  const fetch = createGuardedFetch({ ...reach, deadlineMs, answerMaxBytes });
  const request = { method: 'GET', headers: { accept: 'application/json' }, body: null, redirect: 'manual' } as const;
  const response = await fetch(url, request);
  if (response.status !== 200) return new Response(null, { status: 502 });
  const document = clientMetadata(await response.json(), { keepsId: true });
  const cacheControl = response.headers.get('cache-control') ?? '';
  const headers = { 'content-type': 'application/json', 'cache-control': cacheControl };
  return new Response(JSON.stringify(document), { status: 200, headers });
}
