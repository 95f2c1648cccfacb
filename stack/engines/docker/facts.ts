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
