import type { ConfigurationFacts } from '../../parts/part.ts';
import type { Plan } from '../../plan/plan.ts';
import { fingerprintOf, readSecret } from '../../secrets/secrets.ts';
import type { ImageFacts } from './images.ts';
import { graphNetworkOf } from './network.ts';
import { serviceImageOn } from './service-image.ts';

/** Facts of the daemon that the plan of a container depends on. */
export interface Facts extends Omit<ConfigurationFacts, 'version'> {
  /** The user in the containers, as `uid:gid`. */
  readonly user: string;
  /** The name of the service image. */
  readonly serviceImage: string;
  /**
   * Image ids by name, without the service image: its name contains the hash of its content, and two installations may build it at once.
   */
  readonly imageIds: Readonly<Record<string, string>>;
  /** A hash of the content of a file. */
  readonly fingerprintOf: (file: string) => string;
}

export interface DaemonAnswers {
  readonly user: string;
  readonly images: Readonly<Record<string, ImageFacts>>;
  /** Their addresses by name. */
  readonly networks: Readonly<Record<string, string>>;
}

/** Collects the facts. The nodes of the graph accept administration from their own network, which the backend is in. */
export function factsOf({ definition }: Plan, { user, images, networks }: DaemonAnswers): Facts {
  const serviceImage = serviceImageOn(definition.images.base).name;
  return {
    user,
    serviceImage,
    imageIds: Object.fromEntries(
      Object.entries(images).flatMap(([name, { id }]) => (name === serviceImage ? [] : [[name, id]])),
    ),
    fingerprintOf,
    readSecret,
    admins: networks[graphNetworkOf(definition)] ?? '',
  };
}
