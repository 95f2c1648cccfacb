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

/** What NATS lets a connection say and hear. */
export interface Grants {
  readonly publish: readonly string[];
  readonly subscribe: readonly string[];
}

/** Where clients of the version before ask NATS who they are, and where the bus makes that go (templates/nats.conf): backends hear it there. */
export const whoAmISubject = '$SYS.REQ.USER.INFO';
export const whoIsSubject = 'svc.identity.name';

/** The permissions of contracts/bus, and what this engine needs to carry them out: each names an end that is this very connection. */
export function grantsOf(identity: Identity, { inbox, asks }: { inbox: string; asks: boolean }): Grants {
  const { publish, subscribe, streams, buckets } = permissionsOf(identity);
  const own = endOf(identity);
  const answersAs = identity.kind === 'backend' ? anyBackend : own;
  const asksOf = identity.kind === 'runtime' ? anyBackend : '*';
  return {
    publish: [
      ...publish,
      // NATS looks at where a mapped subject goes, so that this grants no answer of NATS itself.
      ...(asks ? [whoIsSubject] : []),
      ...[`_R.*.${answersAs}.*`, `_C.${asksOf}.${own}.*`],
      ...streams.map(streamSubject),
      ...buckets.flatMap(bucketGrants),
      // Backends keep the streams, and tell who has gone, and clients who they are.
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

/** Whose end concerns an identity. Runtimes are asked by others, and need not know of each other. */
export function gonePatterns({ kind }: Identity): readonly string[] {
  return kind === 'runtime' ? [goneSubject('backend', '*'), goneSubject('remote-mcp', '*')] : [gonePattern];
}

function bucketGrants(name: string): readonly string[] {
  const stream = bucketStream(name);
  const uses = ['STREAM.INFO', 'STREAM.CREATE', 'STREAM.UPDATE', 'STREAM.MSG.GET'];
  return [keySubject(name, '>'), ...uses.map((use) => `$JS.API.${use}.${stream}`)];
}
