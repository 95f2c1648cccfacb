import type Docker from 'dockerode';
import type { Installation } from '../../installation.ts';
import { readContainers, writeContainers } from './containers-record.ts';
import { holdVolumes, imageOfHolder, listVolumes, removeVolumes } from './volumes.ts';

/** Writes down which volumes hold a part of a copy. */
export function recordFilling(installation: Installation, filling: string[]): void {
  const record = readContainers(installation);
  if (record === null) throw new Error('a volume was lost that no record names');
  writeContainers(installation, { ...record, filling });
}

/** Removes what somebody left who was killed while he filled it. */
export async function removeUnfilled(docker: Docker, installation: Installation, id: string): Promise<void> {
  const { filling: volumes = [] } = readContainers(installation) ?? {};
  if (volumes.length === 0) return;
  const image = await imageOfHolder(docker, id);
  await removeVolumes({ docker, volumes, installationId: id });
  if (image !== null) {
    await holdVolumes({ docker, volumes: [...(await listVolumes(docker, id))], installationId: id, image });
  }
  recordFilling(installation, []);
}
