import type { Engine } from '../engine.ts';
import { bringUpProcesses } from './bring-up.ts';
import { checkFrontPorts } from './check-front-ports.ts';
import { checkPrograms } from './check-programs.ts';
import { statusOfProcesses } from './status.ts';
import { stopProcesses } from './stop-processes.ts';

/** Each part in a process of this machine, or all of them in one. */
export const processEngine: Engine = {
  check: (definition, { PATH }) => checkPrograms(definition, PATH),
  checkPorts: (definition, ports, { PATH }) => checkFrontPorts(definition, ports, PATH),
  up: bringUpProcesses,
  down: stopProcesses,
  status: statusOfProcesses,
  // All of them are in the folder of logs.
  logs: async () => [],
};
