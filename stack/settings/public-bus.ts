import { z } from 'zod';
import { variables } from '../../services/contracts/env/variables.ts';
import { isLoopback, isLoopbackServer } from '../../services/contracts/loopback.ts';
import type { TlsFiles } from './certificate.ts';
import { fields } from './rules.ts';

/** The bus as runtimes on other machines reach it. */
export interface PublicBus {
  /** The addresses that runtimes use, with their scheme, at least one. */
  readonly servers: readonly string[];
  /** The listen address of the platform's own nats-server. */
  readonly bind: string;
  /** Null: it does not use TLS. Then it is on loopback, or a proxy terminates TLS, or `insecure: true` is set. */
  readonly tls: TlsFiles | null;
}

const rule = 'null, or servers with bind and tls (cert and key) or insecure: true';
const text = (pattern: RegExp, error: string) => z.string({ error }).regex(pattern, { error });

const addressRule = 'an address such as tls://bus.example.com:4222, with scheme and port';
export const busAddress = text(/^(nats|tls):\/\/[^\s@/,]+:\d{1,5}$/, addressRule).refine(
  (address) => variables.backend.PUBLIC_BUS_SERVERS.parse(address) !== null,
  { error: `It must be ${addressRule}.` },
);
const listRule = 'a list of addresses such as [tls://bus.example.com:4222]';
const pemFile = text(/^[^\0]{1,4096}$/, 'the path of a PEM file');
const tlsFiles = fields(
  { cert: pemFile, key: pemFile, ca: pemFile.nullish().transform((ca) => ca ?? null) },
  'cert, key and, where needed, ca',
);

const given = fields(
  {
    servers: z.array(busAddress, { error: listRule }).min(1, { error: listRule }).max(100, { error: listRule }),
    bind: text(/^[0-9A-Za-z.:-]{1,255}$/, 'an address of this machine, such as 0.0.0.0').nullish(),
    tls: tlsFiles.nullish(),
    insecure: z.boolean({ error: 'true or false' }).nullish(),
  },
  rule,
);

/** `bus.public`: without TLS nothing beyond this machine is admitted, unless `insecure: true` is set. */
export const publicBus: z.ZodType<PublicBus | undefined> = given
  .transform(({ servers, bind, tls, insecure }, context) => {
    const bus = { servers, bind: bind ?? '127.0.0.1', tls: tls ?? null };
    const refuse = (path: (string | number)[], message: string) => context.addIssue({ code: 'custom', path, message });
    if (bus.tls !== null && insecure === true) refuse(['insecure'], 'It contradicts bus.public.tls: leave one out.');
    for (const [index, address] of servers.entries()) {
      if (bus.tls === null || insecure === true || address.startsWith('tls:')) continue;
      refuse(['servers', index], 'It must start with tls:// when bus.public.tls is set.');
    }
    const beyond = openAddressOf(bus);
    if (beyond !== undefined && insecure !== true) {
      const why = `It reaches beyond this machine (${beyond}) without TLS: others on the network can read keys and calls`;
      refuse([], `${why}. Set bus.public.tls, or write insecure: true.`);
    }
    return bus;
  })
  .nullable()
  .transform((bus) => bus ?? undefined)
  .describe(rule);

/** The first address without TLS that others than this machine reach. */
function openAddressOf({ servers, bind, tls }: PublicBus): string | undefined {
  if (tls !== null) return undefined;
  const open = servers.filter((address) => !address.startsWith('tls:') && !isLoopbackServer(address));
  return [...open, ...(isLoopback(bind) ? [] : [bind])][0];
}
