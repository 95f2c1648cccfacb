import type { Definition } from '../../settings/definition.ts';

export interface Preparing {
  readonly signal: AbortSignal;
  readonly onNotice: (message: string) => void;
}

/** Fetches what sandboxes are made of, before anything is started: no runtime does, because nobody would see how far it has come. */
export async function prepareSandbox(definition: Definition, preparing: Preparing): Promise<void> {
  if (definition.runtime.sandbox !== 'container') return;
  const { fetchImage } = await import('./containers.ts');
  await fetchImage(definition, preparing);
}
