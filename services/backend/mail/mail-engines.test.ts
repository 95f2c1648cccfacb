import { describe } from 'vitest';
import type { TestBackend } from '../test/open-test-backend.ts';
import { logEngine } from './log-engine.ts';
import { mailContract } from './mail.contract.ts';
import { startMailServer } from './test/mail-server.ts';
import { startProvider } from './test/provider-receiver.ts';
import type { Received, Receiver } from './test/receiver.ts';

const ofProvider = [
  ['slow', 'sent'],
  ['huge', 'sent'],
  ['redirect', 'waiting', /answered 307/],
  ['400', 'waiting', /answered 400 \(Bad Request\)$/],
  ['429', 'waiting', /answered 429/],
  ['500', 'waiting', /answered 500/],
  ['503', 'waiting', /answered 503 \(Service Unavailable\)$/],
  ['502', 'unsure', /answered 502/],
  ['504', 'unsure', /answered 504/],
  ['silent', 'unsure', /did not answer within 0\.4 s$/],
  ['disconnect', 'unsure', /the connection was closed/],
  ['huge headers', 'unsure', /the connection broke$/],
] as const;

describe.each(['provider_a', 'provider_b'] as const)('mail by %s', (name) => {
  mailContract({ start: () => startProvider(name), named: new RegExp(`^${name} `), rows: ofProvider, hasKey: true });
});

describe('mail by smtp', () => {
  mailContract({
    start: () => startMailServer(),
    named: /^127\.0\.0\.1:\d+ /,
    rows: [
      ['slow', 'sent'],
      ['mute', 'waiting', /did not answer within 0\.4 s$/],
      ['gone', 'waiting', /the connection was closed by the other side$/],
      ['huge', 'waiting', /the connection broke$/],
      ['451', 'waiting', /answered 451(?: \d\.\d\.\d)? to RCPT TO$/],
      ['452', 'waiting', /answered 452(?: \d\.\d\.\d)? to DATA$/],
      ['550', 'failed', /answered 550(?: \d\.\d\.\d)? to RCPT TO$/],
      ['silent', 'unsure', /did not answer within 0\.4 s$/],
      ['disconnect', 'unsure', /the connection was closed by the other side$/],
    ],
    hasKey: true,
  });
});

describe('mail to the log', () => {
  mailContract({ start: openLog, named: /./, rows: [], hasKey: false });
});

/** The lines of the log, which an operator reads. */
async function openLog(backend: TestBackend): Promise<Receiver> {
  const read = (): readonly Received[] =>
    backend.logged
      .map((line) => JSON.parse(line))
      .filter(({ msg }) => msg === 'wrote a mail to the log instead of sending it')
      .map(({ mail: id, to, subject, link }) => ({ id, from: '', to, subject, content: link, headers: [] }));
  return {
    get received() {
      return read();
    },
    get attempts() {
      return read().length;
    },
    behave: () => undefined,
    engine: () => logEngine(backend),
    stop: async () => undefined,
  };
}
