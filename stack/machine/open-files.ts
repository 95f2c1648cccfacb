import { readProc } from './read-proc.ts';

/** A platform without agents has about fifty open files. Each agent and each MCP server adds some. */
const enough = 1024;

/** A sentence about a limit of open files that is too low, with the repair; null if it is high enough or unknown. */
export function describeFewFiles(max: number | null = openFilesMax()): string | null {
  if (max === null || max >= enough) return null;
  return `This user may open only ${max} files in one process, and agents and MCP servers may need ${enough}. Raise it, such as by: ulimit -n ${enough}`;
}

/** Node raises its soft limit to the hard one. Null where the system has no /proc, or no limit. */
function openFilesMax(): number | null {
  const [, hard = ''] = /^Max open files +\S+ +(\S+)/m.exec(readProc('/proc/self/limits') ?? '') ?? [];
  return /^\d+$/.test(hard) ? Number(hard) : null;
}
