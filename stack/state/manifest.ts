import { join } from 'node:path';
import { z } from 'zod';
import { readJson, writeDurably } from './durable-file.ts';
import type { Installation } from './installation.ts';

/** One thing that was created for an installation: relative to its folder, or by its name in Docker. */
const entry = z.object({ kind: z.enum(['file', 'folder', 'network', 'volume', 'image']), path: z.string() });
export type ManifestEntry = z.infer<typeof entry>;
const manifest = z.object({ created: z.array(entry) });

/** `state/manifest.json`: everything that was ever created, so that all of it, and nothing else, can be removed. */
export function readManifest({ stateDir }: Installation): readonly ManifestEntry[] {
  return manifest.safeParse(readJson(join(stateDir, 'manifest.json'))).data?.created ?? [];
}

/** Removes entries that do not pass: things of another installation must never be removed with this one. */
export function keepInManifest(installation: Installation, passes: (entry: ManifestEntry) => boolean): void {
  writeManifest(installation, readManifest(installation).filter(passes));
}

export function recordCreated(installation: Installation, entries: readonly ManifestEntry[]): void {
  const known = readManifest(installation);
  const fresh = entries.filter(({ kind, path }) => !known.some((one) => one.kind === kind && one.path === path));
  if (fresh.length === 0) return;
  writeManifest(installation, [...known, ...fresh]);
}

function writeManifest({ stateDir }: Installation, created: readonly ManifestEntry[]): void {
  writeDurably(join(stateDir, 'manifest.json'), JSON.stringify({ created }, null, 2));
}
