import { lstatSync } from 'node:fs';
import { connect } from 'node:net';
import { SvcError } from '../../../../services/contracts/errors.ts';
import { formatMode } from '../../../state/file-mode.ts';
import type { Installation } from '../../../state/installation.ts';
import { lineMaxBytes, type Reply, type Request, reply } from './messages.ts';
import { controlSocketOf, withSocketPath } from './socket-path.ts';

export interface RequestOptions {
  /** The longest pause between two lines. The whole reply may take longer. */
  readonly silenceMaxMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Called with each change before the result. */
  readonly onProgress?: (line: Reply) => void;
}

/**
 * Asks the supervisor of an installation. Throws `unavailable` where it does not answer, `forbidden` where other users can reach the
 * socket.
 */
export async function askSupervisor(
  installation: Installation,
  asked: Request,
  options: RequestOptions,
): Promise<Reply> {
  refuseForeignSocket(controlSocketOf(installation));
  return withSocketPath(installation, (path) => ask(path, asked, options));
}

/** A socket of another user would receive commands, and its answers would be believed. */
function refuseForeignSocket(path: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) throw silent(path);
  const mode = found.mode & 0o777;
  const isOurs = found.uid === process.geteuid?.() && (mode & 0o077) === 0;
  if (found.isSocket() && isOurs) return;
  const what = found.isSocket() ? `its mode is ${formatMode(mode)}` : 'it is not a socket';
  const whose = found.uid === process.geteuid?.() ? what : `it belongs to user ${found.uid}`;
  throw new SvcError('forbidden', `"${path}" is not this installation's control socket: ${whose}.`, {
    hint: 'Remove it, and start the platform anew: svc down, then svc up',
  });
}

function ask(path: string, asked: Request, { silenceMaxMs, signal, onProgress }: RequestOptions): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const client = connect(path);
    let text = '';
    let last: Reply | null = null;
    const cancel = () => client.destroy(new SvcError('cancelled', 'Interrupted.'));
    signal?.addEventListener('abort', cancel, { once: true });
    client.setTimeout(silenceMaxMs, () => client.destroy(silent(path)));
    client.on('connect', () => client.write(`${JSON.stringify(asked)}\n`));
    client.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      const lines = text.split('\n');
      text = lines.pop() ?? '';
      if (text.length > lineMaxBytes) client.destroy(silent(path));
      for (const line of lines) {
        last = parseReply(line);
        if (last?.kind === 'service') onProgress?.(last);
      }
    });
    client.on('error', (error) => reject(error instanceof SvcError ? error : silent(path, error)));
    client.on('close', () => {
      signal?.removeEventListener('abort', cancel);
      if (last === null || last.kind === 'service') reject(silent(path));
      else resolve(last);
    });
  });
}

function parseReply(line: string): Reply | null {
  try {
    return reply.safeParse(JSON.parse(line)).data ?? null;
  } catch {
    return null;
  }
}

function silent(path: string, cause?: unknown): SvcError {
  return new SvcError('unavailable', `The supervisor does not answer at "${path}".`, {
    hint: 'See how it is: svc status, and svc logs platform',
    ...(cause === undefined ? {} : { cause }),
  });
}
