import { existsSync } from 'node:fs';
import type { EnvRecord } from '../../services/contracts/env/check.ts';
import type { Plan } from './plan.ts';

/**
 * The plan with the PATH on which commands of MCP servers are found: that of `svc up`. As a variable of the runtime it is
 * recorded with the others, so that the next `svc up` compares it.
 */
export function withSearchPath(plan: Plan, env: EnvRecord): Plan {
  const PATH = searchPathIn(env);
  const parts = plan.parts.map((part) =>
    part.service === 'runtime' && PATH !== '' ? { ...part, variables: { ...part.variables, PATH } } : part,
  );
  return { ...plan, parts };
}

/** In the settings that `settingsOf` lists. */
export const searchPathSetting = 'runtime PATH';

/** `npx` adds a folder for each folder above the present one: without the missing ones, PATH is the same everywhere. */
export function searchPathIn({ PATH = '' }: EnvRecord): string {
  const isMissing = (folder: string) => folder.endsWith('/node_modules/.bin') && !existsSync(folder);
  return PATH.split(':')
    .filter((folder) => !isMissing(folder))
    .join(':');
}
