import { cataloguePath } from '../../contracts/catalogue.ts';
import { SvcError } from '../../contracts/errors.ts';
import type { WorkspaceId } from '../../contracts/ids.ts';
import { askBackend, type BackendAddress, notAnswering } from '../http/ask-backend.ts';
import type { RuntimeProcesses } from '../routing/runtime-processes.ts';
import type { Catalogue } from './catalogue.ts';
import { readCatalogue } from './catalogue-reader.ts';

export interface PullOptions extends BackendAddress {
  readonly asked: CatalogueRequest;
  readonly signal: AbortSignal;
  readonly processes: Pick<RuntimeProcesses, 'of'>;
}

export interface CatalogueRequest {
  /** Entity tag of the catalogue that remote-mcp already has. */
  readonly etag: string | null;
  /** Whether the backend reads it as one snapshot, which costs the backend more. */
  readonly isSnapshot: boolean;
}

/** From the request to the last line of the answer: ten thousand tools take about a second. */
const deadlineMs = 30_000;

export type Pulled =
  | { readonly kind: 'unchanged' }
  /** The workspace was changed meanwhile. */
  | { readonly kind: 'incomplete' }
  | { readonly kind: 'changed'; readonly catalogue: Catalogue; readonly etag: string };

/** Fetches a workspace's catalogue from the backend, unless it still has the given `etag`. Throws `unavailable`. */
export async function pullCatalogue(workspace: WorkspaceId, options: PullOptions): Promise<Pulled> {
  const { asked, signal } = options;
  const { etag, isSnapshot } = asked;
  const answer = await askBackend(options, `${cataloguePath}/${workspace}?rules${isSnapshot ? '&snapshot' : ''}`, {
    signal: AbortSignal.any([signal, AbortSignal.timeout(deadlineMs)]),
    headers: { accept: 'application/x-ndjson', ...(etag === null || etag === '' ? {} : { 'if-none-match': etag }) },
  });
  if (answer.statusCode === 304) {
    answer.resume();
    return { kind: 'unchanged' };
  }
  if (answer.statusCode !== 200) {
    answer.resume();
    throw new SvcError('unavailable', `The backend answered ${answer.statusCode} to the pull of a catalogue.`);
  }
  try {
    const catalogue = await readCatalogue(answer, options.processes);
    if (catalogue === null) return { kind: 'incomplete' };
    return { kind: 'changed', catalogue, etag: answer.headers.etag ?? '' };
  } catch (thrown) {
    answer.destroy();
    throw thrown instanceof SvcError ? thrown : notAnswering(thrown);
  }
}
