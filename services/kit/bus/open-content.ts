import type { BusContent, NatsContentOptions, SqliteContentOptions } from './content.ts';
import { SqliteBusContent } from './inproc/content.ts';
import { openNatsContent } from './nats/content.ts';

export { copyBus } from './inproc/copy-bus.ts';

export type BusContentOptions =
  | ({ readonly engine: 'sqlite' } & SqliteContentOptions)
  | ({ readonly engine: 'nats' } & NatsContentOptions);

export async function openBusContent(options: BusContentOptions): Promise<BusContent> {
  return options.engine === 'sqlite' ? new SqliteBusContent(options) : await openNatsContent(options);
}
