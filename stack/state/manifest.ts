import { z } from 'zod';
import type { Installation } from './installation.ts';
import { stateFile } from './state-file.ts';

/** One thing that was created for an installation: relative to its folder, by its name in Docker, or the file of its service. */
const entry = z.object({ kind: z.enum(['file', 'folder', 'network', 'volume', 'image', 'unit']), path: z.string() });
export type ManifestEntry = z.infer<typeof entry>;

/** `state/manifest.json`: everything that was ever created, so that all of it, and nothing else, can be removed. */
const manifestFile = stateFile('manifest.json', z.object({ created: z.array(entry) }));

export function readManifest(installation: Installation): readonly ManifestEntry[] {
  return manifestFile.read(installation)?.created ?? [];
}

/** Removes entries that do not pass: things of another installation must never be removed with this one. */
export function keepInManifest(installation: Installation, passes: (entry: ManifestEntry) => boolean): void {
  manifestFile.write(installation, { created: readManifest(installation).filter(passes) });
}

export function recordCreated(installation: Installation, entries: readonly ManifestEntry[]): void {
  const known = readManifest(installation);
  const fresh = entries.filter(({ kind, path }) => !known.some((one) => one.kind === kind && one.path === path));
  if (fresh.length === 0) return;
  manifestFile.write(installation, { created: [...known, ...fresh] });
}
