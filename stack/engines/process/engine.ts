import type { Engine } from '../engine.ts';
import { statusOfProcesses } from './status.ts';

/** Each part in a process of this machine, or all of them in one. What a command does not use is not loaded. */
export const processEngine: Engine = {
  async check(definition, { PATH }) {
    const { checkPrograms } = await import('./check-programs.ts');
    return checkPrograms(definition, PATH);
  },
  async checkPorts(definition, ports, { PATH }) {
    const { checkFrontPorts } = await import('./check-front-ports.ts');
    await checkFrontPorts(definition, ports, PATH);
  },
  async up(options) {
    const { bringUpProcesses } = await import('./bring-up.ts');
    return bringUpProcesses(options);
  },
  async down(options) {
    const { stopProcesses } = await import('./stop-processes.ts');
    return stopProcesses(options);
  },
  status: statusOfProcesses,
  // All of them are in the folder of logs.
  logs: async () => [],
};
