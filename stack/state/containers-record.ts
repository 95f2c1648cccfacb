import { z } from 'zod';
import { findOriginal } from './find-original.ts';
import type { Installation } from './installation.ts';
import { recordedUrls } from './recorded-urls.ts';
import { stateFile } from './state-file.ts';

const containersRecord = z.object({
  /** Between `svc up` and `svc down`. */
  isUp: z.boolean(),
  version: z.string(),
  daemon: z.object({ id: z.string(), socket: z.string() }),
  /** As in `state/process.json`, to show what `svc up` would change. */
  settings: z.record(z.string(), z.string()),
  urls: recordedUrls,
  services: z.array(z.object({ name: z.string(), container: z.string(), url: z.string().nullable() })),
  /** The image id of each name at its last use: the name is the choice, the id its meaning then. */
  images: z.record(z.string(), z.string()),
  /** The existing volumes, and their owner. */
  volumes: z.array(z.string()),
  user: z.string(),
});
export type ContainersRecord = z.infer<typeof containersRecord>;

/** `state/containers.json`: what `svc up` created in Docker. It stays after `svc down`, as the volumes do. */
export const {
  read: readContainers,
  write: writeContainers,
  remove: removeContainers,
} = stateFile('containers.json', containersRecord);

/** Whether the platform runs in containers, by the record; in a copy the containers are the original's. */
export function isInContainers(installation: Installation): boolean {
  return readContainers(installation)?.isUp === true && findOriginal(installation) === null;
}
