import type { ConfigurationFacts } from '../../parts/part.ts';
import type { Plan } from '../../plan/plan.ts';
import { fingerprintOf, readSecret } from '../../secrets/secrets.ts';
import type { ImageFacts } from './images.ts';
import { graphNetworkOf, type Network } from './network.ts';
import { serviceImageOn } from './service-image.ts';

/** What a container is started with that Docker has to be asked for first. */
export interface Facts extends Omit<ConfigurationFacts, 'version'> {
  /** As whom everything runs: `uid:gid`, in the container. */
  readonly user: string;
  /** The image of the services, by name. */
  readonly serviceImage: string;
  /** Ids of images by their names. The name of the services' image tells its content, and two installations may build it at once. */
  readonly imageIds: Readonly<Record<string, string>>;
  /** A hash of what is in a file that a part is given. */
  readonly fingerprintOf: (file: string) => string;
}

export interface Asked {
  readonly user: string;
  readonly images: Readonly<Record<string, ImageFacts>>;
  readonly networks: Readonly<Record<string, Network>>;
}

/** From what Docker said. The graph's nodes are administered from their own network, which the backend is in. */
export function factsOf({ definition }: Plan, { user, images, networks }: Asked): Facts {
  const serviceImage = serviceImageOn(definition.images.base).name;
  return {
    user,
    serviceImage,
    imageIds: Object.fromEntries(
      Object.entries(images).flatMap(([name, { id }]) => (name === serviceImage ? [] : [[name, id]])),
    ),
    fingerprintOf,
    readSecret,
    admins: networks[graphNetworkOf(definition)]?.subnet ?? '',
  };
}
