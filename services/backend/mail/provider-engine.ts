import { request as requestHttp, STATUS_CODES } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { Secret } from '../../contracts/secret.ts';
import { shownLine } from '../../contracts/shown-text.ts';
import { systemWords } from '../../contracts/system-words.ts';
import {
  accepted,
  fromNameMaxChars,
  interruption,
  type MailEngine,
  type Outcome,
  type OutgoingMail,
  refused,
  withoutAnswer,
} from './mail-engine.ts';

export interface ProviderOptions {
  /** As an operator knows it. */
  readonly name: string;
  readonly url: string;
  readonly key: Secret;
  readonly from: string;
  readonly fromName: string | undefined;
  readonly deadlineMs: number;
}

/** Posts mail to the HTTP API of a provider. The first answer decides; its body is not read. */
export function providerEngine(options: ProviderOptions): MailEngine {
  return {
    deadlineMs: options.deadlineMs,
    send: (mail, signal) => post(options, mail, signal),
  };
}

function post(
  { name, url, key, from, fromName, deadlineMs }: ProviderOptions,
  mail: OutgoingMail,
  signal: AbortSignal,
) {
  const { subject, text, html } = mail.letter;
  const names = fromName === undefined ? {} : { fromName: shownLine(fromName, fromNameMaxChars) };
  const content = { from, ...names, to: mail.to, subject, text: text.reveal(), html: html.reveal() };
  const body = Buffer.from(JSON.stringify(content));
  const { promise: outcome, resolve } = Promise.withResolvers<Outcome>();
  const isTls = url.startsWith('https:');
  let mayHaveArrived = false;
  const request = (isTls ? requestHttps : requestHttp)(url, {
    method: 'POST',
    // A connection of its own: on a kept one, nothing tells whether the provider received the request.
    agent: false,
    headers: {
      authorization: `Bearer ${key.reveal()}`,
      'content-type': 'application/json',
      'content-length': body.length,
      'idempotency-key': mail.id,
    },
    signal,
  });
  request.once('socket', (socket) => {
    // Nothing of the request is sent before.
    socket.once(isTls ? 'secureConnect' : 'connect', () => {
      mayHaveArrived = true;
    });
  });
  request.once('response', (response) => {
    resolve(outcomeOf(name, response.statusCode ?? 0));
    request.destroy();
  });
  request.on('error', (error) => {
    const failure = `failed: ${systemWords(error) ?? 'the connection broke'}`;
    const why = signal.aborted ? interruption(signal, deadlineMs) : failure;
    resolve(withoutAnswer(`${name} ${why}`, mayHaveArrived));
  });
  // After a protocol switch or a silent close there may be no error.
  request.once('close', () => resolve(withoutAnswer(`${name} failed: the connection was closed`, mayHaveArrived)));
  request.end(body);
  return outcome;
}

/** Answers of a gateway, whose own request to the provider may have succeeded (RFC 9110 §15.6.3 and §15.6.5). */
const ofGateway: ReadonlySet<number> = new Set([502, 504]);

function outcomeOf(name: string, status: number): Outcome {
  if (status >= 200 && status < 300) return accepted;
  const answer = `${name} answered ${status} (${STATUS_CODES[status] ?? 'unknown'})`;
  return ofGateway.has(status) ? { kind: 'unknown', reason: answer } : refused(answer);
}
