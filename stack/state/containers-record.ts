import { join } from 'node:path';
import { z } from 'zod';
import { readJson, writeDurably } from './durable-file.ts';
import { findOriginal } from './find-original.ts';
import type { Installation } from './installation.ts';

const containersRecord = z.object({
  /** Between `svc up` and `svc down`. */
  isUp: z.boolean(),
  version: z.string(),
  /** The daemon that has it all. */
  daemon: z.object({ id: z.string(), socket: z.string() }),
  /** As in `state/process.json`: what differs from it is what `svc up` would change. */
  settings: z.record(z.string(), z.string()),
  urls: z.object({ app: z.string(), api: z.string(), mcp: z.string(), runtime: z.string() }),
  services: z.array(z.object({ name: z.string(), container: z.string(), url: z.string().nullable() })),
  /** Which image each name was when it was last used: the name says which one it shall be, this which one it is. */
  images: z.record(z.string(), z.string()),
  /** The volumes there are, and whose they are. */
  volumes: z.array(z.string()),
  /** Volumes that hold an unfinished copy. */
  filling: z.array(z.string()).default([]),
  user: z.string(),
});
export type ContainersRecord = z.infer<typeof containersRecord>;

export const containersName = 'containers.json';

/** `state/containers.json`: what `svc up` made in Docker. It stays after `svc down`, because the volumes do. */
export function readContainers({ stateDir }: Installation): ContainersRecord | null {
  return containersRecord.safeParse(readJson(fileIn(stateDir))).data ?? null;
}

/** Whether the platform runs in containers, as far as `svc` knows: how they are is known by Docker. In a copy they are the original's. */
export function isInContainers(installation: Installation): boolean {
  return readContainers(installation)?.isUp === true && findOriginal(installation) === null;
}

export function writeContainers({ stateDir }: Installation, record: ContainersRecord): void {
  writeDurably(fileIn(stateDir), JSON.stringify(record, null, 2));
}

function fileIn(stateDir: string): string {
  return join(stateDir, containersName);
}
