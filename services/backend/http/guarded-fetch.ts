import * as http from 'node:http';
import * as https from 'node:https';
import type { CustomFetchOptions } from 'openid-client';
import { isLocalHost } from '../../contracts/local-host.ts';
import { refuseAddress } from '../../kit/addresses/address-refused.ts';
import type { AddressRule } from '../../kit/addresses/address-rule.ts';
import { createAllowedLookup, type Resolve } from '../../kit/addresses/allowed-lookup.ts';
import { readAnswer } from './read-answer.ts';

/** The part of `fetch` that requests to strangers need. */
export type GuardedFetch = (url: string, options: CustomFetchOptions) => Promise<Response>;

/** What the requests may reach, how long each may take, and how large its answer may be. */
export interface Reach {
  /** The addresses. */
  readonly rule: AddressRule;
  readonly resolve: Resolve;
  /** Default: a person waits for several requests, one after the other. */
  readonly deadlineMs?: number;
  /** Default: metadata and tokens have some kilobytes. */
  readonly answerMaxBytes?: number;
  /** Authorities for tests; default: those of Node. */
  readonly ca?: string | undefined;
}

/**
 * Strangers name the addresses, so each connection goes to an allowed address only, has a deadline and a bounded answer,
 * and follows no redirect.
 */
export function createGuardedFetch(reach: Reach): GuardedFetch {
  const { rule, resolve, deadlineMs = 5000, answerMaxBytes = 128 * 1024, ca } = reach;
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
      ...{ method, lookup, agent: false, ca },
      headers: { ...headers, ...(content === undefined ? {} : { 'content-length': content.length }) },
      signal: signal === undefined ? late : AbortSignal.any([signal, late]),
    });
    return await new Promise((resolve, reject) => {
      asking.on('response', (answer) =>
        passAnswer(answer, { host: url.host, maxBytes: answerMaxBytes }).then(resolve, reject),
      );
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

async function passAnswer(answer: http.IncomingMessage, bounds: Parameters<typeof readAnswer>[1]): Promise<Response> {
  const body = await readAnswer(answer, bounds);
  const { statusCode: status = 0, headers } = answer;
  if (status < 200 || status > 599) throw new Error(`the answer has the status ${status}`);
  const isEmpty = status === 204 || status === 304 || body.length === 0;
  const kept = ['content-type', 'cache-control', 'www-authenticate'].flatMap((name) => {
    const value = headers[name];
    return typeof value === 'string' ? [[name, value] as [string, string]] : [];
  });
  return new Response(isEmpty ? null : Uint8Array.from(body), { status, headers: kept });
}
