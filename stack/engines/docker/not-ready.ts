import type Docker from 'dockerode';
import { SvcError } from '../../../services/contracts/errors.ts';
import { inWords } from '../../../services/contracts/system-words.ts';
import { describeLine, parseLine } from '../../logs/read-logs.ts';
import { readContainerLog } from './container-log.ts';

const linesMax = 8;

interface NotReady {
  readonly part: { readonly name: string };
  readonly options: { readonly name: string };
}

/** Why a started container is not ready, with the last lines of its log. */
export async function notReady({ part, options }: NotReady, cause: unknown, docker: Docker): Promise<SvcError> {
  const why = inWords(cause);
  const lines = await readContainerLog(docker.getContainer(options.name), { tail: linesMax }).catch(() => []);
  const last = lines.map(({ text }) => `\n  ${describeLine(parseLine(part.name, text))}`).join('');
  return new SvcError(
    cause instanceof SvcError ? cause.code : 'internal',
    `${part.name} failed to get ready: ${why.replace(/\.$/, '')}.${last === '' ? '' : `\nLast lines of its log:${last}`}`,
    {
      hint: (cause instanceof SvcError ? cause.hint : undefined) ?? `Read its log: svc logs ${part.name}`,
      cause,
    },
  );
}
