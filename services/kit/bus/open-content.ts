import type { BusContent, NatsContentOptions, SqliteContentOptions } from './content.ts';
import { SqliteBusContent } from './inproc/content.ts';

export { copyBus } from './inproc/copy-bus.ts';

export type BusContentOptions =
  | ({ readonly engine: 'sqlite' } & SqliteContentOptions)
  | ({ readonly engine: 'nats' } & NatsContentOptions);

export async function openBusContent(options: BusContentOptions): Promise<BusContent> {
  if (options.engine === 'sqlite') return new SqliteBusContent(options);
  // Loaded on use: a platform of one process has no NATS.
  const { openNatsContent } = await import('./nats/content.ts');
  return openNatsContent(options);
}
