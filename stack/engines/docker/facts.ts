import { busKeysOf, routeSecretOf } from '../../bus/nats-configuration.ts';
import { hasOwnGraph } from '../../graph/has-own-graph.ts';
import type { Plan } from '../../lifecycle/plan.ts';
import { fingerprintOf, readSecret } from '../../secrets.ts';
import type { ImageFacts } from './images.ts';
import { graphNetworkOf, type Network } from './network.ts';
import { serviceImageOn } from './service-image.ts';

/** What a container is started with that Docker has to be asked for first. */
export interface Facts {
  /** As whom everything runs: `uid:gid`, in the container. */
  readonly user: string;
  /** The image of the services, by name. */
  readonly serviceImage: string;
  /** Ids of images by their names. */
  readonly imageIds: Readonly<Record<string, string>>;
  /** A hash of what is in a file that a part is given. */
  readonly fingerprintOf: (file: string) => string;
  /** What stands in the configurations of programs of somebody else's beside what svc.yaml says: keys, and who may administer. */
  readonly places: Readonly<Record<string, string>>;
}

export interface Asked {
  readonly user: string;
  readonly images: Readonly<Record<string, ImageFacts>>;
  readonly networks: Readonly<Record<string, Network>>;
}

/** From what Docker said. */
export function factsOf(plan: Plan, { user, images, networks }: Asked): Facts {
  return {
    user,
    serviceImage: serviceImageOn(plan.definition.images.base).name,
    imageIds: Object.fromEntries(Object.entries(images).map(([name, { id }]) => [name, id])),
    fingerprintOf,
    places: placesOf(plan, networks),
  };
}

/**
 * Keys that NATS knows the platform by, and the secret that its nodes know each other by; the token of Dgraph's administration, and from where
 * it is let in: where the backend is.
 */
function placesOf({ definition, parts, secrets }: Plan, networks: Asked['networks']): Facts['places'] {
  const node = parts.find(({ service }) => service === 'nats');
  const bus = node === undefined ? {} : { ...busKeysOf(secrets), ...routeSecretOf(node.variables, secrets) };
  if (!hasOwnGraph(definition)) return bus;
  return { ...bus, TOKEN: readSecret(secrets.graphToken), ADMINS: networks[graphNetworkOf(definition)]?.subnet ?? '' };
}
