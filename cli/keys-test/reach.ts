import { lookup } from 'node:dns/promises';
import { request as requestSecurely } from 'node:https';
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls, TLSSocket } from 'node:tls';
import { describeClocks, refusedValidity, setClock, timeOfDate } from '../../services/contracts/clocks.ts';
import { SvcError } from '../../services/contracts/errors.ts';
import { isCode } from '../../stack/machine/is-code.ts';
import { portOf } from '../../stack/machine/port-of.ts';
import { excerpt, unsendable } from './causes.ts';
import { exchange } from './exchange.ts';
import { type Climber, failed, type Outcome, passed, rungTimeoutMs } from './rung.ts';

/** A text that no header can carry is not a key for any platform. It is not sent, so this check needs no platform. */
export async function readText(climber: Climber): Promise<Outcome | null> {
  if (/^[\x21-\x7e]+$/.test(climber.key.reveal())) return null;
  climber.verdict = 'refused';
  return failed(unsendable(climber.key));
}

export async function resolveName({ url }: Climber): Promise<Outcome> {
  const { address } = await lookup(hostOf(url)).catch((error: unknown) => {
    throw new SvcError('unavailable', `The name "${url.hostname}" does not resolve.`, {
      hint: 'Check the spelling of the URL and the DNS of this machine.',
      cause: error,
    });
  });
  return passed(address);
}

export async function openTcp({ url }: Climber): Promise<Outcome> {
  const port = portOf(url.href);
  const socket = connectTcp({ host: hostOf(url), port });
  try {
    await settled(socket, 'connect');
    return passed(`port ${port} is open`);
  } finally {
    socket.destroy();
  }
}

export async function openTls({ url }: Climber): Promise<Outcome | null> {
  if (url.protocol !== 'https:') return null;
  const host = hostOf(url);
  const named = isIP(host) === 0 ? { servername: host } : {};
  const socket = connectTls({ host, port: portOf(url.href), ...named });
  try {
    await settled(socket, 'secureConnect').catch(async (error: unknown) => {
      throw isCode(error, 'CERT_HAS_EXPIRED') || isCode(error, 'CERT_NOT_YET_VALID') ? await outOfDate(url) : error;
    });
    return passed(`certificate valid until ${socket.getPeerCertificate().valid_to}`);
  } finally {
    socket.destroy();
  }
}

/** Asks without trust, and without the key, for the dates of the certificate and for the time there. */
function outOfDate(url: URL): Promise<SvcError> {
  const hereMs = Date.now();
  const tell = (why: string, hint: string) =>
    new SvcError('unavailable', `The certificate of ${url.hostname} ${why}.`, { hint });
  const renew = `Renew the certificate, or correct the clock of this machine. ${setClock}`;
  return new Promise((resolve) => {
    const give = (error: SvcError) => {
      resolve(error);
      request.destroy();
    };
    const request = requestSecurely(new URL('/health', url), {
      ...{ method: 'HEAD', agent: false, rejectUnauthorized: false, timeout: rungTimeoutMs },
    });
    let why = 'is out of date';
    request.once('response', ({ headers, socket }) => {
      if (socket instanceof TLSSocket) {
        const { valid_from, valid_to } = socket.getPeerCertificate();
        const validity = { fromMs: Date.parse(valid_from), toMs: Date.parse(valid_to) };
        why = refusedValidity(validity, hereMs) ?? why;
      }
      const thereMs = timeOfDate(headers.date) ?? hereMs;
      const clocks = describeClocks({ hereMs, thereMs, whose: "the platform's" });
      give(clocks === null ? tell(why, 'Renew the certificate.') : tell(`${why}. ${clocks.slice(0, -1)}`, setClock));
    });
    request.once('timeout', () => give(tell(why, renew)));
    request.once('error', () => give(tell(why, renew)));
    request.end();
  });
}

export async function askHealth({ url }: Climber): Promise<Outcome> {
  const health = new URL('/health', url);
  const answer = await exchange(health, { method: 'GET', timeoutMs: rungTimeoutMs });
  if (answer.status === 200) return passed('200');
  return failed({
    code: 'unavailable',
    message: `${health.href} answered ${answer.status}, not 200: this is not the address of remote-mcp.`,
    hint: `Use the mcp address that "svc status" prints. It answered: ${excerpt(answer.body)}`,
  });
}

function settled(socket: Socket, event: 'connect' | 'secureConnect'): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.setTimeout(rungTimeoutMs, () =>
      reject(
        new SvcError('timeout', `No connection within ${rungTimeoutMs / 1000} s.`, { hint: 'A firewall may drop it.' }),
      ),
    );
    socket.once(event, resolve);
    socket.once('error', reject);
  });
}

function hostOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, '$1');
}
