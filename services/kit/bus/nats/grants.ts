import { anyBackend, endOf } from '../../../contracts/bus/ends.ts';
import { type Identity, permissionsOf } from '../../../contracts/bus/permissions.ts';
import { bucketStream, gonePattern, goneSubject, keySubject, penaltySubject, streamSubject } from './subjects.ts';

/** What NATS lets a connection say and hear. */
export interface Grants {
  readonly publish: readonly string[];
  readonly subscribe: readonly string[];
}

/** Where a client asks NATS who it is. */
export const whoAmI = '$SYS.REQ.USER.INFO';

/** The permissions of contracts/bus, and what this engine needs to carry them out: each names an end that is this very connection. */
export function grantsOf(identity: Identity, inbox: string): Grants {
  const { publish, subscribe, streams, buckets } = permissionsOf(identity);
  const own = endOf(identity);
  const answersAs = identity.kind === 'backend' ? anyBackend : own;
  const asksOf = identity.kind === 'runtime' ? anyBackend : '*';
  return {
    publish: [
      ...[...publish, whoAmI],
      ...[`_R.*.${answersAs}.*`, `_C.${asksOf}.${own}.*`],
      ...streams.map(streamSubject),
      ...buckets.flatMap(bucketGrants),
      // Backends keep the streams, and tell who has gone.
      ...(identity.kind === 'backend' ? ['$JS.API.>', '$JS.ACK.>', gonePattern, penaltySubject] : []),
    ],
    subscribe: [
      ...[...subscribe, `${inbox}.>`],
      ...[`_R.${own}.*.*`, `_C.${answersAs}.*.*`],
      ...gonePatterns(identity),
      ...(identity.kind === 'backend' ? [penaltySubject] : []),
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
