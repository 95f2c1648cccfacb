import { readProc } from '../../machine/read-proc.ts';
import { findRunning } from '../../state/find-running.ts';
import { type Found, ok, type Planned, warning } from './finding.ts';

/** MCP servers get the PATH of the shell that ran `svc up`. */
export async function checkPath({ installation, env }: Planned): Promise<readonly Found[]> {
  const running = findRunning(installation);
  const environment = running === null ? null : readProc(`/proc/${running.pid}/environ`);
  if (environment === null) return [ok('The platform does not run as a process here, so its PATH is not compared.')];
  const own = foldersIn(/(?:^|\0)PATH=([^\0]*)/.exec(environment)?.[1]);
  const missing = [...foldersIn(env.PATH)].filter((folder) => !own.has(folder));
  if (missing.length === 0) return [ok('The platform has every folder of this PATH.')];
  const names = missing.slice(0, shownMax).join(', ');
  return [
    warning(
      `MCP servers find no programs in ${names}: the platform was started with another PATH.`,
      'Start it from this shell: svc up',
    ),
  ];
}

const shownMax = 5;

/** npm puts folders of its own in front, which differ from call to call. */
function foldersIn(path = ''): ReadonlySet<string> {
  return new Set(path.split(':').filter((folder) => folder !== '' && !folder.includes('node_modules')));
}
