import { lookup } from 'node:dns/promises';
import { connect } from 'node:tls';
import { inWords } from '../../../services/contracts/system-words.ts';
import { portOf } from '../../machine/port-of.ts';
import { type Found, failed, ok, type Planned, warning } from './finding.ts';

const shakeTimeoutMs = 5000;
const dayMs = 24 * 60 * 60_000;
const soonDays = 14;

/** The name under which others reach the platform, and its certificate. */
export async function checkPublicAddress({ plan }: Planned): Promise<readonly Found[]> {
  const { mcp, keys } = plan.addresses.public;
  const { host } = plan.definition.public;
  if (host === undefined) return [ok('The platform is for this machine only: public.host is not set.')];
  const urls = [mcp, ...(keys === null ? [] : [keys])].map((url) => new URL(url));
  return (await Promise.all(urls.map(checkName))).flat();
}

async function checkName(url: URL): Promise<readonly Found[]> {
  const host = url.hostname;
  try {
    const addresses = await lookup(host, { all: true });
    const found = ok(`${host} is ${addresses.map(({ address }) => address).join(', ')}.`);
    return url.protocol === 'https:' ? [found, await checkCertificate(host, portOf(url.href))] : [found];
  } catch (error) {
    return [failed(`The name ${host} is unknown: ${inWords(error)}.`, `Add a DNS record for ${host}.`)];
  }
}

function checkCertificate(host: string, port: number): Promise<Found> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, servername: host, rejectUnauthorized: false, timeout: shakeTimeoutMs });
    const tell = (found: Found) => {
      socket.destroy();
      resolve(found);
    };
    const away = (why: string) =>
      warning(`https://${host}:${port} does not answer from here: ${why}.`, 'Check the firewall, then: svc status');
    socket.once('secureConnect', () => {
      const { valid_to: end } = socket.getPeerCertificate();
      const days = Math.floor((Date.parse(end) - Date.now()) / dayMs);
      if (!socket.authorized) {
        const why = String(socket.authorizationError);
        return tell(warning(`The certificate of ${host} is not trusted here: ${why}.`, 'Read docs/growing.md on TLS.'));
      }
      if (days < soonDays) return tell(warning(`The certificate of ${host} ends in ${days} days.`, 'Renew it.'));
      tell(ok(`The certificate of ${host} is valid for ${days} days.`));
    });
    socket.once('timeout', () => tell(away('no answer in time')));
    socket.once('error', (error) => tell(away(inWords(error))));
  });
}
