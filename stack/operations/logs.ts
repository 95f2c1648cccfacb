import { engineOf } from '../engines/engine-of.ts';
import { type LogLine, type LogOptions, readLogs } from '../logs/read-logs.ts';

export async function* logs(options: Omit<LogOptions, 'more'>): AsyncGenerator<LogLine> {
  const more = await engineOf(options.installation).logs(options.installation, options.lines);
  yield* readLogs({ ...options, more });
}
