import { readdirSync, statSync } from 'node:fs';
import { readProc } from '../machine/read-proc.ts';
import { type ProcessIdentity, startTimeOf, workingDirOf } from './process-identity.ts';

/** Environment variable of every process of a platform in the background. It is not a secret. */
const markVariable = 'SVC_INSTALLATION';

/** Marks a process as this part of this installation, so that it is found when its folder is gone. */
export function markOf(id: string, part: string): Readonly<Record<string, string>> {
  return { [markVariable]: `${id}/${part}` };
}

export interface MarkedProcess {
  readonly id: string;
  /** `platform`: the process that restarts the others, or that holds all parts. */
  readonly part: string;
  readonly process: ProcessIdentity;
  /** Its working directory, which may be gone. */
  readonly dir: string | null;
}

const mark = new RegExp(`(?:^|\\0)${markVariable}=([a-z0-9]{8,32})/([a-z0-9-]{1,40})(?:\\0|$)`);

/** The processes of this user with a mark. Only Linux shows the environment of a process: elsewhere there is none. */
export function markedProcesses(): readonly MarkedProcess[] {
  return pids().flatMap((pid) => {
    const startTime = startTimeOf(pid);
    if (startTime === null || !isOwn(pid)) return [];
    const [, id, part] = mark.exec(readProc(`/proc/${pid}/environ`) ?? '') ?? [];
    if (id === undefined || part === undefined) return [];
    // Read again: the number may have become that of another process.
    if (startTimeOf(pid) !== startTime) return [];
    // Linux says so of a removed folder.
    const dir = workingDirOf(pid)?.replace(/ \(deleted\)$/, '') ?? null;
    return [{ id, part, process: { pid, startTime }, dir }];
  });
}

function pids(): readonly number[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc').map(Number).filter(Number.isInteger);
}

/** Root reads the environments of all users. */
function isOwn(pid: number): boolean {
  try {
    return statSync(`/proc/${pid}`).uid === process.geteuid?.();
  } catch {
    return false; // It ended meanwhile.
  }
}
