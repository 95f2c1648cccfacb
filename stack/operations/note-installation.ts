import { realpathSync } from 'node:fs';
import type { EnvRecord } from '../../services/contracts/env/check.ts';
import { findDaemonAddress } from '../engines/docker/daemon-address.ts';
import { readDefinition } from '../settings/check.ts';
import { readContainers } from '../state/containers-record.ts';
import { findOriginal } from '../state/find-original.ts';
import type { Installation } from '../state/installation.ts';
import { noteInstallation } from '../state/known-installations.ts';

/** Notes an installation for `svc status --all`. A copy has the id of its original, whose entry stays. Never throws. */
export function noteForUser(installation: Installation, env: EnvRecord): void {
  try {
    if (findOriginal(installation) !== null) return;
    const { id, name, engine } = readDefinition(installation.definitionFile);
    const socket = readContainers(installation)?.daemon.socket ?? findDaemonAddress(env)?.socket;
    const docker = engine === 'docker' ? (socket ?? null) : null;
    noteInstallation({ id, name, dir: realpathSync(installation.dir), docker }, env);
  } catch {
    // Whatever is wrong, the command itself reports it.
  }
}
