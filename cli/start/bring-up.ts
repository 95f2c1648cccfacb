import type { Status } from '../../stack/lifecycle/platform-status.ts';
import type { Progress, UpResult } from '../../stack/lifecycle/progress.ts';
import type { Installation } from '../../stack/state/installation.ts';
import { interruption } from '../command.ts';
import { openProgressList } from '../output/progress-list.ts';
import type { Terminal } from '../output/terminal.ts';
import { interruptedStart } from './interrupted.ts';

interface Shown {
  readonly terminal: Terminal;
  readonly installation: Installation;
  /** In the foreground: prints the running platform, because the start itself ends with the platform. */
  readonly onReady: ((status: Status) => void) | null;
}

interface Told {
  readonly onProgress: (progress: Progress) => void;
  readonly signal: AbortSignal;
}

/** Shows the progress of a start, and after Ctrl-C what it leaves. */
export async function showStart(
  { terminal, installation, onReady }: Shown,
  start: (told: Told) => Promise<UpResult>,
): Promise<UpResult> {
  // In the foreground the list would end only with the platform.
  const canvas = onReady === null ? terminal.canvas : null;
  const list = openProgressList({ ...terminal, canvas });
  const signal = interruption();
  const stopping = { kind: 'notice', message: 'Stopping. A second Ctrl-C does not wait.' } as const;
  if (canvas !== null) signal.addEventListener('abort', () => list.tell(stopping));
  const onProgress = (progress: Progress) => {
    if (progress.kind === 'plan') for (const text of progress.changes) list.tell({ kind: 'change', text });
    else if (progress.kind === 'ready') onReady?.(progress.status);
    else list.tell(progress);
  };
  return await start({ onProgress, signal })
    .finally(() => list.end())
    .catch((error: unknown) => {
      throw signal.aborted ? interruptedStart(installation, error) : error;
    });
}
