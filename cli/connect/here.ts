import { homedir } from 'node:os';
import type { Place } from '../../services/contracts/clients/clients.ts';
import { environment } from '../command.ts';

/** The person's home and the folder that they are in. */
export function here(): Place {
  return {
    home: environment.HOME || homedir(),
    project: process.cwd(),
    isMac: process.platform === 'darwin',
    env: environment,
  };
}
