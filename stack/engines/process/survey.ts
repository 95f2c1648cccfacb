import { SvcError } from '../../../services/contracts/errors.ts';
import { keptInFiles } from '../../graph/graph-data.ts';
import { findLosses, forgetData, hasLostSessions } from '../../place/kept-data.ts';
import { findRunning, type RunningPlatform } from '../../state/find-running.ts';
import { readRecord } from '../../state/platform-record.ts';
import type { EngineStart, Survey } from '../engine.ts';
import { hasPort } from './has-port.ts';
import { prepareProcesses } from './prepare.ts';

/** The kernel frees the ports of a killed process a moment after the process is gone. */
const portPatienceMs = 1000;

/** Finds the processes of a platform. Refuses a second platform in the foreground. */
export async function surveyProcesses(start: EngineStart): Promise<Survey> {
  const { installation, foreground, onNotice } = start;
  const running = findRunning(installation);
  if (running !== null && foreground && !running.isAbandoned) throw runsAlready(running);
  return {
    ownsPort: (port) => running !== null && hasPort(running, port),
    portPatienceMs: running === null && readRecord(installation) !== null ? portPatienceMs : 0,
    keptBy: keptInFiles(installation),
    async findLosses({ definition }) {
      if (hasLostSessions(installation, definition)) {
        onNotice('The data of the bus is missing: agents begin new sessions, and nothing else is lost.');
      }
      return findLosses(installation, definition);
    },
    forget: async (paths, { definition }) => forgetData(installation, definition, paths),
    prepare: (plan) => prepareProcesses(plan, running, start),
  };
}

function runsAlready({ pid, record }: RunningPlatform): SvcError {
  if (record?.foreground) {
    const where = `pid ${pid}, in the foreground of another terminal`;
    return new SvcError('conflict', `The platform runs already (${where}): ${record.urls.app}`, {
      hint: 'Press Ctrl-C there to stop it.',
    });
  }
  return new SvcError('conflict', `The platform runs already, in the background (pid ${pid}).`, {
    hint: 'Stop it first: svc down, then svc up --foreground',
  });
}
