import { isIP } from 'node:net';
import { checkEnv } from '../../services/contracts/env/check.ts';
import { versionInImage } from '../machine/check-program.ts';
import { addressesOf } from './addresses.ts';
import { engineTraits } from './choices.ts';
import { type Definition, hasOneHost, hasOwnBus, hasOwnGraph } from './definition.ts';
import { alphaMemoryMb, isNewDgraph, oldestDgraph } from './dgraph.ts';
import { nodesOf, usualPorts, wishesOf } from './ports.ts';
import { isHostName } from './rules.ts';
import { placeOf } from './settings.ts';

/** Settings that are valid by themselves and cannot work together: the path of one of them, and the message. */
export type Conflict = readonly [path: string, message: string];

type Conflicts = Iterable<Conflict>;

export function conflictsIn(definition: Definition): readonly Conflict[] {
  const rules = [
    ofOneProcess,
    ofMail,
    ofSignIn,
    ofAddresses,
    ofPublicHost,
    ofKeysAddress,
    ofBus,
    ofGraph,
    ofContainers,
    ofReplicas,
    ofNodePorts,
  ];
  return rules.flatMap((rule) => [...rule(definition)]);
}

function* ofOneProcess({ topology, engine, graph, bus, replicas, public: { host } }: Definition): Conflicts {
  if (topology === 'distributed') return;
  const needs = 'needs topology: distributed. With topology: embedded';
  if (engineTraits[engine].needsDistributed) yield ['engine', `engine: ${engine} needs topology: distributed.`];
  if (graph === 'dgraph') yield ['graph', `graph: dgraph ${needs} there is only one process, with SQLite.`];
  for (const [service, count] of Object.entries(replicas)) {
    if (count > 1) yield [`replicas.${service}`, `replicas.${service} above 1 ${needs} there is only one process.`];
  }
  const why = `${needs} the bus is inside the single process and not reachable.`;
  if (bus.public !== undefined) yield ['bus.public', `bus.public ${why}`];
  if (bus.servers !== 'auto') yield ['bus.servers', `bus.servers ${why}`];
  if (host !== undefined) {
    yield ['public.host', `public.host ${needs} there is one process, which cannot supervise Caddy.`];
  }
}

function* ofMail({ mail }: Definition): Conflicts {
  const { provider, from, url, smtp } = mail;
  const isSmtp = provider === 'smtp';
  const ofProvider = isSmtp ? { 'smtp.host': smtp.host } : { url };
  for (const [name, value] of provider === 'log' ? [] : Object.entries({ from, ...ofProvider })) {
    if (value === undefined) yield ['mail.provider', `mail.${name} is required with mail.provider: ${provider}.`];
  }
  for (const [name, value] of isSmtp ? [] : Object.entries({ host: smtp.host, user: smtp.user, ca: smtp.ca })) {
    if (value === undefined) continue;
    yield [`mail.smtp.${name}`, `mail.smtp.${name} is for mail.provider: smtp, and mail.provider is ${provider}.`];
  }
}

function* ofSignIn({ signIn: { provider } }: Definition): Conflicts {
  const { issuer, clientId } = provider;
  if ((issuer === undefined) === (clientId === undefined)) return;
  const [missing, present] = issuer === undefined ? ['issuer', 'clientId'] : ['clientId', 'issuer'];
  yield [`signIn.provider.${present}`, `signIn.provider.${missing} is required with signIn.provider.${present}.`];
}

/** The same rule as in the services, reported with its place in the file. Ports do not matter to it. */
function* ofAddresses(definition: Definition): Conflicts {
  const { backend, mcp, frontend, keys } = addressesOf(definition, usualPorts).public;
  const shared = { PUBLIC_BACKEND_URL: backend, PUBLIC_MCP_URL: mcp };
  yield* internalNames('backend', { PUBLIC_FRONTEND_URL: frontend, ...shared });
  // `ofKeysAddress` refuses auto under one host name.
  if (keys === null || (hasOneHost(definition) && definition.publicUrls.keys === 'auto')) return;
  const ofKeys = internalNames('remote-mcp', { PUBLIC_MCP_KEYS_URL: keys, ...shared });
  yield* ofKeys.filter(([place]) => place === keysPlace);
}

function internalNames(
  service: 'backend' | 'remote-mcp',
  addresses: Readonly<Record<string, string>>,
): readonly Conflict[] {
  return checkEnv(service, { NODE_ENV: 'production', ...addresses }).problems.flatMap(({ variable, rule }) => {
    const place = Object.hasOwn(addresses, variable) ? placeOf(service, variable) : undefined;
    return place === undefined ? [] : [[place, `${place} ${rule}.`] as const];
  });
}

const keysPlace = 'publicUrls.keys';

/** Clients also look for OAuth at the root of a host, so a path of its own would not do. */
function* ofKeysAddress(definition: Definition): Conflicts {
  const { keys, ...others } = addressesOf(definition, usualPorts).public;
  if (keys === null) return;
  const { host, hostname, pathname } = new URL(keys);
  if (hasOneHost(definition)) {
    const isAnswered = isHostName(hostname) && hostname !== definition.public.host && pathname === '/mcp';
    if (definition.publicUrls.keys === 'auto' || !isAnswered) {
      yield [
        keysPlace,
        `${keysPlace} must have a host name of its own with public.host: https://keys.example.com/mcp.`,
      ];
    } else if (definition.public.tls === 'acme' && !isProvable(hostname)) {
      yield [keysPlace, `${keysPlace} must have a public name for tls: acme, not "${hostname}".`];
    }
    return;
  }
  for (const [name, url] of Object.entries(others)) {
    if (new URL(url).host !== host) continue;
    yield [keysPlace, `${keysPlace} must have another host or port than publicUrls.${name}, which is at ${host} too.`];
    return;
  }
}

function* ofPublicHost(definition: Definition): Conflicts {
  const { host, tls, cert, key, acme } = definition.public;
  for (const [field, value] of Object.entries({ cert, key })) {
    if (value === undefined && tls === 'files') yield ['public.tls', `public.tls files needs public.${field}.`];
    if (value !== undefined && tls !== 'files') yield unused(`public.${field}`, 'files', tls);
  }
  for (const [field, value] of Object.entries({ email: acme.email, ca: acme.ca })) {
    if (value !== undefined && tls !== 'acme') yield unused(`public.acme.${field}`, 'acme', tls);
  }
  if (host === undefined) {
    if (tls !== 'none') {
      yield ['public.tls', `public.tls ${tls} needs public.host, the name that the certificate is for.`];
    }
    return;
  }
  if (tls === 'acme' && !isProvable(host)) {
    yield ['public.host', `public.host must be a public name for tls: acme, not "${host}".`];
  }
  yield* ofPublicUrls(definition);
}

/** RFC 8555 §7.1.3 allows names only, and no one can prove to own localhost. */
function isProvable(host: string): boolean {
  return isIP(host) === 0 && !/(^|\.)localhost$/.test(host);
}

function unused(path: string, usedBy: string, tls: string): Conflict {
  return [path, `${path} is for tls: ${usedBy}, and public.tls is ${tls}.`];
}

/** Another proxy may have another scheme or port; the host and the path must be those that are answered. */
function* ofPublicUrls(definition: Definition): Conflicts {
  const auto = {
    ...definition,
    publicUrls: { ...definition.publicUrls, backend: 'auto', mcp: 'auto', frontend: 'auto' },
  } as const;
  const usual = addressesOf(auto, usualPorts).public;
  for (const name of ['backend', 'mcp', 'frontend'] as const) {
    const url = definition.publicUrls[name];
    if (url === 'auto' || hostAndPathOf(url) === hostAndPathOf(usual[name])) continue;
    const path = `publicUrls.${name}`;
    yield [path, `${path} must have the host and the path of ${usual[name]} with public.host, or be auto.`];
  }
}

function hostAndPathOf(url: string): string {
  const { hostname, pathname } = new URL(url);
  return `${hostname}${pathname.replace(/\/$/, '')}`;
}

/** A port in the files of runtimes elsewhere must not change when another program takes it. */
function* ofBus(definition: Definition): Conflicts {
  const { public: open, port } = definition.bus;
  if (open === undefined || !hasOwnBus(definition) || port !== 'auto') return;
  const why = 'runtimes elsewhere store the address, and auto may change it';
  yield ['bus.public', `bus.public needs a number as bus.port, such as 4222: ${why}.`];
}

/** Architecture, section 3: SQLite has a single writing process. */
function* ofGraph({ graph, replicas }: Definition): Conflicts {
  if (replicas.backend === 1 || graph === 'dgraph') return;
  const why = 'the file has one writer. remote-mcp and runtime can have more';
  yield ['replicas.backend', `replicas.backend must be 1 with graph: sqlite: ${why}.`];
}

/** Settings that need the programs and networks of this machine, and the needs of Dgraph's image. */
function* ofContainers(definition: Definition): Conflicts {
  const { engine, graph, graphdb, runtime, images, limits } = definition;
  if (engineTraits[engine].usesThisMachine) return;
  const needs = 'needs engine: process in this version.';
  if (graph === 'dgraph' && !hasOwnGraph(definition)) yield ['graphdb.url', `An external Dgraph ${needs}`];
  if (runtime.sandbox === 'bwrap' || runtime.sandbox === 'container') {
    yield ['runtime.sandbox', `runtime.sandbox: ${runtime.sandbox} ${needs}`];
  }
  if (!hasOwnGraph(definition)) return;
  if (!isNewDgraph(versionInImage(images.dgraph))) {
    const why = 'older versions have an administration without authentication';
    yield ['images.dgraph', `images.dgraph must be of ${oldestDgraph} or newer, by its tag: ${why}.`];
  }
  const neededMb = alphaMemoryMb(graphdb.cacheMb);
  if (limits.memoryMaxMb['dgraph-alpha'] < neededMb) {
    const path = 'limits.memoryMaxMb.dgraph-alpha';
    const why = `graphdb.cacheMb is ${graphdb.cacheMb}, and 256 more are needed`;
    yield [path, `${path} must be at least ${neededMb}: ${why}.`];
  }
}

/** `replicas` of nodes apply only to nodes that `svc up` runs, not to external ones. */
function* ofReplicas(definition: Definition): Conflicts {
  const { topology, graph, replicas } = definition;
  if (topology === 'embedded') return;
  const ownGraph = "the platform's own Dgraph, but graphdb.url names an external one";
  const forGraph = graph === 'sqlite' ? 'graph: dgraph' : ownGraph;
  const forBus = "the platform's own bus, but bus.servers names an external one";
  for (const node of ['nats', 'dgraph-zero', 'dgraph-alpha'] as const) {
    if (replicas[node] === 1 || nodesOf(node, definition).length > 0) continue;
    yield [`replicas.${node}`, `replicas.${node} above 1 needs ${node === 'nats' ? forBus : forGraph}.`];
  }
}

const lastPort = 65_535;

/** When the first node's port is a number, further nodes use the next numbers. */
function* ofNodePorts(definition: Definition): Conflicts {
  const byPlace = Map.groupBy(wishesOf(definition), ({ place }) => place);
  for (const [path, wishes] of byPlace) {
    const highest = wishes.flatMap(({ wanted, beside = [] }) =>
      wanted === 'auto' ? [] : [wanted, ...beside.map((distance) => wanted + distance)],
    );
    if (highest.every((port) => port <= lastPort)) continue;
    yield [path, `${path} must leave room: the ${wishes.length} nodes use consecutive numbers.`];
  }
}
