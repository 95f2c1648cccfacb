import { anyBackend, endOf } from '../../../contracts/bus/ends.ts';
import { type Identity, permissionsOf } from '../../../contracts/bus/permissions.ts';
import {
  bucketStream,
  gonePattern,
  goneSubject,
  keySubject,
  offencePattern,
  offenceSubject,
  penaltySubject,
  streamSubject,
} from './subjects.ts';

/** The subjects a NATS connection may publish on and subscribe to. */
export interface Grants {
  readonly publish: readonly string[];
  readonly subscribe: readonly string[];
}

/**
 * On the first subject, clients of the previous version ask NATS for their identity. The bus maps it to the second
 * (templates/nats.conf), on which backends listen.
 */
export const whoAmISubject = '$SYS.REQ.USER.INFO';
export const whoIsSubject = 'svc.identity.name';

/** The permissions of contracts/bus, plus the subjects this engine needs: each names an end that is this connection. */
export function grantsOf(identity: Identity, { inbox, asks }: { inbox: string; asks: boolean }): Grants {
  const { publish, subscribe, streams, buckets } = permissionsOf(identity);
  const own = endOf(identity);
  const answersAs = identity.kind === 'backend' ? anyBackend : own;
  const asksOf = identity.kind === 'runtime' ? anyBackend : '*';
  return {
    publish: [
      ...publish,
      // NATS checks the mapped subject, so this grants no answer of NATS itself.
      ...(asks ? [whoIsSubject] : []),
      ...[`_R.*.${answersAs}.*`, `_C.${asksOf}.${own}.*`],
      ...streams.map(streamSubject),
      ...buckets.flatMap(bucketGrants),
      // Backends keep the streams, report ended connections, and introduce clients.
      ...(identity.kind === 'backend'
        ? ['$JS.API.>', '$JS.ACK.>', gonePattern, penaltySubject, '_I.>', whoIsSubject]
        : []),
      ...(identity.kind === 'remote-mcp' ? [offenceSubject(own)] : []),
    ],
    subscribe: [
      ...[...subscribe, `${inbox}.>`],
      ...[`_R.${own}.*.*`, `_C.${answersAs}.*.*`],
      ...gonePatterns(identity),
      ...(identity.kind === 'backend' ? [penaltySubject, offencePattern] : []),
    ],
  };
}

/** Patterns for the ends of connections that concern an identity. Runtimes need not know of each other. */
export function gonePatterns({ kind }: Identity): readonly string[] {
  return kind === 'runtime' ? [goneSubject('backend', '*'), goneSubject('remote-mcp', '*')] : [gonePattern];
}

function bucketGrants(name: string): readonly string[] {
  const stream = bucketStream(name);
  const uses = ['STREAM.INFO', 'STREAM.CREATE', 'STREAM.UPDATE', 'STREAM.MSG.GET'];
  return [keySubject(name, '>'), ...uses.map((use) => `$JS.API.${use}.${stream}`)];
}
