import { z } from 'zod';
import type { EnvRecord } from '../../services/contracts/env/check.ts';
import type { Installation } from './installation.ts';
import { stateFile } from './state-file.ts';

/** The first `svc up` creates it. Commands use it until a person chooses another. */
export const firstWorkspace = 'Default';

/** The workspace that commands use without `--workspace`. */
export const workspaceInUse = stateFile('workspace.json', z.object({ name: z.string() }));

/** The name of the workspace that a command without `--workspace` works in. */
export function workspaceWithoutFlag(installation: Installation, env: EnvRecord): string {
  return env.SVC_WORKSPACE || (workspaceInUse.read(installation)?.name ?? firstWorkspace);
}
