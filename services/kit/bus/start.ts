import { createLog, type LogDestination } from '../log.ts';
import type { Hub } from './bus.ts';
import { InprocHub } from './inproc/hub.ts';
import { Storage } from './inproc/storage.ts';

export interface StartHubOptions {
  /** File of streams and buckets (data/bus.sqlite); null keeps them in memory. */
  readonly file: string | null;
  readonly log?: LogDestination;
}

/** Starts the bus of this process. */
export async function startHub({ file, log }: StartHubOptions): Promise<Hub> {
  const logger = createLog({ service: 'bus', level: 'info', destination: log ?? silent })('bus');
  return new InprocHub(await Storage.open(file, logger), logger);
}

const silent: LogDestination = { write: () => undefined };
