import { removeLeftDrafts } from '../state/durable-file.ts';
import { closeEntries, ensurePrivateFolder, makeFolder } from '../state/folder.ts';
import { type CreationStep, compileCacheOf, type Installation } from '../state/installation.ts';
import { type ManifestEntry, recordCreated } from '../state/manifest.ts';
import { ensureSecrets } from './ensure-secrets.ts';
import type { SecretsFor } from './secret-rows.ts';

/** The part of an installation that `svc up` also ensures: lost files are created again, or refused. */
export function ensureFolders(installation: Installation, definition: SecretsFor): readonly CreationStep[] {
  const { dataDir, stateDir, logsDir, secretsDir } = installation;
  const folders = [dataDir, stateDir, logsDir];
  const steps = [...folders.map(ensurePrivateFolder), ...ensureSecrets(installation, definition)];
  makeFolder(compileCacheOf(installation), 0o700);
  for (const dir of [dataDir, stateDir, secretsDir]) removeLeftDrafts(dir);
  recordCreated(installation, [file('svc.yaml'), ...steps.flatMap(({ path }) => entriesFor(path))]);
  return [...steps, ...folders.flatMap(closeEntries)];
}

function entriesFor(path: string): readonly ManifestEntry[] {
  return path.endsWith('/') ? [{ kind: 'folder', path: path.slice(0, -1) }, file(`${path}.gitignore`)] : [file(path)];
}

function file(path: string): ManifestEntry {
  return { kind: 'file', path };
}
