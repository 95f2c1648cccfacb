import type { NatsConnection } from '@nats-io/transport-node';
import type { NatsContentOptions } from '../content.ts';
import { connectAlone } from './connect-alone.ts';
import { connectBeside } from './connect-beside.ts';

/** Connects to NATS to read or fill its data, whether or not backends run. */
export async function connectForContent(options: Omit<NatsContentOptions, 'keyMaxAgeMs'>): Promise<NatsConnection> {
  return options.hasBackends === true ? await connectBeside(options) : await connectAlone(options);
}
