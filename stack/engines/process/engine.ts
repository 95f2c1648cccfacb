import type { Engine } from '../engine.ts';
import { processSite } from './site.ts';

/** Each part in a process of this machine, or all of them in one. Code that a command does not use is not loaded. */
export const processEngine: Engine = {
  site: processSite,
  takesPort: () => true,
  async check(plan, { PATH }) {
    const { checkPrograms } = await import('./check-programs.ts');
    return checkPrograms(plan, PATH);
  },
  async survey(start) {
    const { surveyProcesses } = await import('./survey.ts');
    return surveyProcesses(start);
  },
  async down(options) {
    const { stopProcesses } = await import('./stop.ts');
    return stopProcesses(options);
  },
  async inspect(options) {
    const { statusOfProcesses } = await import('./status.ts');
    return statusOfProcesses(options);
  },
  async places(options) {
    const { placesInFolders } = await import('./places.ts');
    return placesInFolders(options);
  },
  // All of them are in the folder of logs.
  logs: async () => [],
};
