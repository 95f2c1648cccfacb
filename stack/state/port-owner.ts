import { describeHolder, findPortHolder } from '../machine/port-holder.ts';
import { installationAround } from './installation.ts';
import { workingDirOf } from './process-identity.ts';

/** As `describeHolder`. A process of another installation is named by the folder. */
export function describePortOwner(port: number): string {
  const pid = findPortHolder(port)?.pid;
  const folder = pid === undefined ? null : workingDirOf(pid);
  const dir = folder === null ? null : installationAround(folder);
  return dir === null ? describeHolder(port) : `the platform in "${dir}" (pid ${pid})`;
}
