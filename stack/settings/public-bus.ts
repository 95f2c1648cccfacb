import { suggestion } from '../../services/contracts/did-you-mean.ts';
import { variables } from '../../services/contracts/env/variables.ts';
import { hostOf } from '../../services/contracts/host-of.ts';
import { isObject } from '../../services/contracts/is-object.ts';
import type { TlsFiles } from './certificate.ts';
import { type Complaint, isScalar, withComplaints } from './rules.ts';

/** The bus as runtimes on other machines reach it. */
export interface PublicBus {
  /** The addresses that runtimes use, with their scheme, at least one. */
  readonly servers: readonly string[];
  /** The listen address of the platform's own nats-server. */
  readonly bind: string;
  /** Null: it does not use TLS. Then it is on loopback, or a proxy terminates TLS, or `insecure: true` is set. */
  readonly tls: TlsFiles | null;
}

/** `bus.public`: without TLS nothing beyond this machine is admitted, unless `insecure: true` is set. */
export const publicBus = withComplaints(
  'null, or servers with bind and tls (cert and key) or insecure: true',
  complaints,
  (raw): PublicBus | undefined | null => (raw === null ? undefined : isObject(raw) ? read(raw) : null),
);

/** Whether the host of an address is on this machine only. */
export function isLoopbackServer(server: string): boolean {
  return isLoopback(hostOf(server));
}

const fields = ['servers', 'bind', 'tls', 'insecure'];
const tlsFields = ['cert', 'key', 'ca'];

function read({ servers, bind, tls }: Given): PublicBus {
  return {
    servers: Array.isArray(servers) ? servers.map(String) : [],
    bind: bind == null ? '127.0.0.1' : String(bind),
    tls: isObject(tls)
      ? { cert: String(tls.cert), key: String(tls.key), ca: tls.ca == null ? null : String(tls.ca) }
      : null,
  };
}

function complaints(raw: unknown): readonly Complaint[] {
  if (!isObject(raw)) return [];
  const wrong = [...unknownFields(raw, fields), ...wrongServers(raw.servers), ...wrongBind(raw.bind)];
  const wrongTls = raw.tls == null ? [] : tlsComplaints(raw.tls);
  if (raw.insecure != null && typeof raw.insecure !== 'boolean') wrong.push(at(['insecure'], 'must be true or false'));
  const all = [...wrong, ...wrongTls];
  return all.length > 0 ? all : openComplaints(read(raw), raw.insecure === true);
}

/** Rules between the parts, which are valid by themselves. */
function openComplaints({ servers, bind, tls }: PublicBus, insecure: boolean): readonly Complaint[] {
  if (tls !== null && insecure) return [at(['insecure'], 'contradicts bus.public.tls: leave one of them out')];
  if (tls !== null) {
    return servers.flatMap((server, index) =>
      server.startsWith('tls://') ? [] : [at(['servers', index], `must start with tls:// when bus.public.tls is set`)],
    );
  }
  const open = servers.filter((server) => !server.startsWith('tls://') && !isLoopbackServer(server));
  const beyond = [...open, ...(isLoopback(bind) ? [] : [bind])];
  if (beyond.length === 0 || insecure) return [];
  const why = `reaches beyond this machine (${beyond[0]}) without TLS: others on the network can read keys and calls`;
  return [{ path: [], message: `bus.public ${why}. Set bus.public.tls, or write insecure: true.` }];
}

function wrongServers(raw: unknown): Complaint[] {
  const rule = 'a list of addresses such as [tls://bus.example.com:4222]';
  if (!Array.isArray(raw) || raw.length === 0 || raw.length > serversMax) return [at(['servers'], `must be ${rule}`)];
  return raw.flatMap((server: unknown, index) =>
    typeof server === 'string' && isServer(server)
      ? []
      : [at(['servers', index], 'must be an address such as tls://bus.example.com:4222, with scheme and port')],
  );
}

const serversMax = 100;

function isServer(server: string): boolean {
  return /^(nats|tls):\/\/.*:\d{1,5}$/.test(server) && variables.backend.PUBLIC_BUS_SERVERS.parse(server) !== null;
}

function wrongBind(raw: unknown): Complaint[] {
  const isAddress = raw == null || (isScalar(raw) && /^[0-9A-Za-z.:-]{1,255}$/.test(String(raw)));
  return isAddress ? [] : [at(['bind'], 'must be an address of this machine, such as 0.0.0.0')];
}

function tlsComplaints(raw: unknown): readonly Complaint[] {
  if (!isObject(raw)) return [at(['tls'], 'must hold cert, key and, where needed, ca')];
  const missing = ['cert', 'key'].filter((name) => !isPath(raw[name]));
  const ca = raw.ca == null || isPath(raw.ca) ? [] : ['ca'];
  return [
    ...unknownFields(raw, tlsFields, ['tls']),
    ...[...missing, ...ca].map((name) => at(['tls', name], 'must be the path of a PEM file')),
  ];
}

function isPath(raw: unknown): boolean {
  return typeof raw === 'string' && raw.length > 0 && raw.length <= 4096 && !raw.includes('\0');
}

function unknownFields(given: Given, known: readonly string[], below: readonly string[] = []): Complaint[] {
  return Object.keys(given)
    .filter((name) => !known.includes(name))
    .map((name) => {
      const full = ['bus', 'public', ...below, name].join('.');
      return {
        path: [...below, name],
        message: `"${full}" is not a field. ${suggestion(name, known)}`,
        aboutName: true,
      };
    });
}

/** A complaint about a part: `rule` follows its name. */
function at(path: readonly (string | number)[], rule: string): Complaint {
  const name = path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`)).join('');
  return { path, message: `bus.public${name} ${rule}.` };
}

/** Whether a listener on this host is reachable from this machine only. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\./.test(host);
}

type Given = Readonly<Record<string, unknown>>;
