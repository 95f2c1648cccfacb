import * as http from 'node:http';
import * as https from 'node:https';
import type { CustomFetchOptions } from 'openid-client';
import { isLocalHost } from '../../contracts/local-host.ts';
import { refuseAddress } from '../../kit/addresses/address-refused.ts';
import type { AddressRule } from '../../kit/addresses/address-rule.ts';
import { createAllowedLookup, type Resolve } from '../../kit/addresses/allowed-lookup.ts';
import { readAnswer } from '../http/read-answer.ts';

/** A person waits for several requests, one after the other. */
const deadlineMs = 5_000;
/** Metadata and tokens have some kilobytes. */
const answerMaxBytes = 128 * 1024;

/** The part of `fetch` that requests to MCP servers and their authorization servers need. */
export type GuardedFetch = (url: string, options: CustomFetchOptions) => Promise<Response>;

/** The addresses that the requests may reach. */
export interface Reach {
  readonly rule: AddressRule;
  readonly resolve: Resolve;
}

/**
 * Strangers name the addresses, so each connection goes to an allowed address only, has a deadline and a bounded answer,
 * and follows no redirect.
 */
export function createGuardedFetch({ rule, resolve }: Reach): GuardedFetch {
  const lookup = createAllowedLookup(rule, resolve);
  // openid-client sends forms, and a registration is JSON text.
  return async (text, { method, headers, body, signal }) => {
    const url = new URL(text);
    if (!isWebAddress(url)) throw new Error('the address is not https');
    refuseAddress(rule, url.hostname);
    const late = AbortSignal.timeout(deadlineMs);
    const { request } = url.protocol === 'https:' ? https : http;
    const content = body == null ? undefined : Buffer.from(String(body));
    const asking = request(url, {
      ...{ method, lookup, agent: false },
      headers: { ...headers, ...(content === undefined ? {} : { 'content-length': content.length }) },
      signal: signal === undefined ? late : AbortSignal.any([signal, late]),
    });
    return await new Promise((resolve, reject) => {
      asking.on('response', (answer) => passAnswer(answer, url.host).then(resolve, reject));
      asking.on('error', reject).end(content);
    });
  };
}

/** Ends all requests together after this long from now. */
export function within(fetch: GuardedFetch, maxMs: number): GuardedFetch {
  const late = AbortSignal.timeout(maxMs);
  return (url, options) => {
    const { signal } = options;
    return fetch(url, { ...options, signal: signal === undefined ? late : AbortSignal.any([signal, late]) });
  };
}

/** https everywhere; http on this machine, which the address rule must allow, too. */
export function isWebAddress(url: URL): boolean {
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLocalHost(url));
}

async function passAnswer(answer: http.IncomingMessage, host: string): Promise<Response> {
  const body = await readAnswer(answer, { host, maxBytes: answerMaxBytes });
  const { statusCode: status = 0, headers } = answer;
  if (status < 200 || status > 599) throw new Error(`the answer has the status ${status}`);
  const isEmpty = status === 204 || status === 304 || body.length === 0;
  const kept = ['content-type', 'www-authenticate'].flatMap((name) => {
    const value = headers[name];
    return typeof value === 'string' ? [[name, value] as [string, string]] : [];
  });
  return new Response(isEmpty ? null : Uint8Array.from(body), { status, headers: kept });
}
