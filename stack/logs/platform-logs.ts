import { join } from 'node:path';
import { escapeHidden } from '../../services/contracts/hidden-characters.ts';
import type { Installation } from '../state/installation.ts';
import { LogFile, type LogLimits } from './log-file.ts';

/** One file for each part, named after it; the platform's own is `platform.log`. */
export interface PlatformLogs {
  of(part: string): LogFile;
  note(level: 'info' | 'error', message: string, fields?: LogFields): void;
  close(): void;
}

type LogFields = Readonly<Record<string, unknown>>;

export function openPlatformLogs({ logsDir }: Installation, { logs }: { readonly logs: LogLimits }): PlatformLogs {
  const files = new Map<string, LogFile>();
  const of = (part: string) => {
    const file = files.get(part) ?? new LogFile(join(logsDir, `${part}.log`), logs);
    files.set(part, file);
    return file;
  };
  return {
    of,
    note: (level, message, fields) => of('platform').write(platformLine(level, message, fields)),
    close() {
      for (const file of files.values()) file.close();
    },
  };
}

/** A line of the platform itself, in the form of the services' lines. */
export function platformLine(level: 'info' | 'error', message: string, fields: LogFields = {}): string {
  const line = {
    level,
    time: new Date().toISOString(),
    service: 'platform',
    name: 'platform',
    ...fields,
    msg: message,
  };
  return `${escapeHidden(JSON.stringify(line))}\n`;
}
