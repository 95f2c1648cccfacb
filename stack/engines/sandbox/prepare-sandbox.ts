import type { EnvRecord } from '../../../services/contracts/env/check.ts';
import type { Definition } from '../../settings/definition.ts';

export interface Preparing {
  readonly env: EnvRecord;
  readonly signal: AbortSignal;
  readonly onNotice: (message: string) => void;
}

/** Pulls the images of sandboxes before anything starts, so that the operator sees the progress. Runtimes never pull. */
export async function prepareSandbox(definition: Definition, preparing: Preparing): Promise<void> {
  if (definition.runtime.sandbox !== 'container') return;
  const { fetchImage } = await import('./containers.ts');
  await fetchImage(definition, preparing);
}
