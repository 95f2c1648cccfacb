import { z } from 'zod';
import { stateFile } from './state-file.ts';

/** The first `svc up` creates it. Commands use it until a person chooses another. */
export const firstWorkspace = 'Default';

/** The workspace that commands use without `--workspace`. */
export const workspaceInUse = stateFile('workspace.json', z.object({ name: z.string() }));
