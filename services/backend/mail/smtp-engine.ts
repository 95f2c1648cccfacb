import { Readable } from 'node:stream';
import MailComposer from 'nodemailer/lib/mail-composer';
import SmtpConnection from 'nodemailer/lib/smtp-connection';
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

export interface SmtpOptions {
  readonly host: string;
  readonly port: number;
  readonly tls: 'starttls' | 'implicit' | 'none';
  /** PEM of the authority that signs the mail server's certificate; undefined: the system's authorities. */
  readonly ca: string | undefined;
  readonly login: Login | undefined;
  readonly from: string;
  readonly fromName: string;
  readonly deadlineMs?: number;
}

interface Login {
  readonly user: string;
  readonly password: Secret;
}

/** RFC 5321 §4.5.3.2 allows minutes for each command. A person waits for this mail, and the next attempt follows soon. */
const usualDeadlineMs = 60_000;
const answerMaxBytes = 64 * 1024;
/** How long a mail server may take for its goodbye. Nothing depends on it. */
const quitMs = 1000;

/** Hands mail to a mail server, each in a connection of its own. */
export function smtpEngine(options: SmtpOptions): MailEngine {
  const { deadlineMs = usualDeadlineMs } = options;
  return {
    deadlineMs,
    async send(mail, signal) {
      const message = compose(options, mail);
      const bytes = await message.build();
      const connection = connectionTo(options, deadlineMs);
      const name = `${options.host}:${options.port}`;
      let mayHaveArrived = false;
      const body = Readable.from(
        (function* () {
          // It is read once the mail server has accepted the recipient and the command DATA.
          mayHaveArrived = true;
          yield bytes;
        })(),
      );
      const { promise: outcome, resolve } = Promise.withResolvers<Outcome>();
      const fail = (thrown: unknown) => resolve(outcomeOf(name, thrown, mayHaveArrived));
      const abort = () => resolve(withoutAnswer(`${name} ${interruption(signal, deadlineMs)}`, mayHaveArrived));
      signal.addEventListener('abort', abort, { once: true });
      connection.on('error', fail).once('end', () => fail(null));
      const step = (next: () => void) => (error?: Error | null) => (error ? fail(error) : next());
      const send = () =>
        connection.send(
          message.getEnvelope(),
          body,
          step(() => resolve(accepted)),
        );
      const logIn = ({ user, password }: Login) =>
        connection.login({ credentials: { user, pass: password.reveal() } }, step(send));
      connection.connect(step(() => (options.login === undefined ? send() : logIn(options.login))));
      const known = await outcome;
      signal.removeEventListener('abort', abort);
      leave(connection, known);
      return known;
    },
  };
}

function compose({ from, fromName }: SmtpOptions, { id, to, letter }: OutgoingMail) {
  const { subject, text, html } = letter;
  return new MailComposer({
    from: { name: shownLine(fromName, fromNameMaxChars), address: from },
    to: { name: '', address: to },
    subject,
    text: text.reveal(),
    html: html.reveal(),
    messageId: `<${id}@${from.slice(from.lastIndexOf('@') + 1)}>`,
    // RFC 3834 §5: no automatic answers.
    headers: { 'Auto-Submitted': 'auto-generated' },
    disableFileAccess: true,
    disableUrlAccess: true,
  }).compile();
}

function connectionTo({ host, port, tls, ca }: SmtpOptions, deadlineMs: number): SmtpConnection {
  return new SmtpConnection({
    ...{ host, port, secure: tls === 'implicit', requireTLS: tls === 'starttls', ignoreTLS: tls === 'none' },
    tls: { rejectUnauthorized: true, minVersion: 'TLSv1.2', ...(ca === undefined ? {} : { ca }) },
    ...{ connectionTimeout: deadlineMs, greetingTimeout: deadlineMs, socketTimeout: deadlineMs },
    ...{ maxResponseSize: answerMaxBytes, socketCloseTimeout: quitMs },
  });
}

/** Fields of the library's errors. */
interface SmtpError extends Partial<Error> {
  readonly responseCode?: unknown;
  readonly response?: unknown;
  readonly command?: unknown;
  readonly code?: unknown;
  readonly originalCode?: unknown;
}

/**
 * A code of the mail server always says that it did not accept the mail. A permanent refusal of the recipient is not
 * repeated (RFC 5321 §4.2.1); a wrong password can be corrected.
 */
function outcomeOf(name: string, thrown: unknown, mayHaveArrived: boolean): Outcome {
  const error: SmtpError = thrown instanceof Error ? thrown : {};
  const command = typeof error.command === 'string' ? (/^[A-Z][A-Z ]{0,20}/.exec(error.command)?.[0].trim() ?? '') : '';
  if (typeof error.responseCode === 'number') {
    const detailed = /^\d{3}[ -](\d\.\d{1,3}\.\d{1,3})\b/.exec(String(error.response))?.[1];
    const code = detailed === undefined ? `${error.responseCode}` : `${error.responseCode} ${detailed}`;
    const isFinal = command === 'RCPT TO' && error.responseCode >= 500;
    return refused(`${name} answered ${code} to ${command === 'CONN' || command === '' ? 'the connection' : command}`, {
      isFinal,
    });
  }
  if (error.code === 'EENVELOPE') return refused('the address is not valid', { isFinal: true });
  return withoutAnswer(`${name} failed: ${wordsOf(error, thrown)}`, mayHaveArrived);
}

function wordsOf({ code, originalCode }: SmtpError, thrown: unknown): string {
  const coded = typeof originalCode === 'string' ? Object.assign(new Error(), { code: originalCode }) : thrown;
  const known = systemWords(coded);
  if (known !== null) return known;
  if (code === 'ETLS') return 'it offers no valid TLS';
  if (code === 'EDNS') return 'its name cannot be resolved';
  if (code === 'EAUTH') return 'it offers no way to log in';
  return code === 'ECONNECTION' ? 'the connection was closed by the other side' : 'the connection broke';
}

function leave(connection: SmtpConnection, { kind }: Outcome): void {
  connection.on('error', () => undefined);
  if (kind === 'accepted') {
    connection.quit();
    setTimeout(() => connection.close(), quitMs).unref();
  } else {
    connection.close();
  }
}
