import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { SvcError } from '../../../../services/contracts/errors.ts';
import type { Installation } from '../../../state/installation.ts';

export function controlSocketOf({ stateDir }: Installation): string {
  return join(stateDir, socketName);
}

const socketName = 'control.sock';
/** unix(7) allows 107 bytes, macOS 103. */
const pathMaxBytes = 103;

/** Calls `use` with a path to the socket that fits this limit, however deep the installation lies. */
export async function withSocketPath<Result>(
  installation: Installation,
  use: (path: string) => Promise<Result>,
): Promise<Result> {
  const path = controlSocketOf(installation);
  if (Buffer.byteLength(path) <= pathMaxBytes) return use(path);
  if (process.platform !== 'linux') {
    throw new SvcError('unsupported', `"${path}" is longer than ${pathMaxBytes} bytes, the limit for a socket.`, {
      hint: 'Move the installation to a folder with a shorter path.',
    });
  }
  // proc(5): an open folder has a short second name.
  const folder = openSync(installation.stateDir, 'r');
  try {
    return await use(`/proc/self/fd/${folder}/${socketName}`);
  } finally {
    closeSync(folder);
  }
}
