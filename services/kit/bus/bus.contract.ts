import { describe } from 'vitest';
import { bucketsContract } from './contract/buckets.contract.ts';
import { connectionsContract } from './contract/connections.contract.ts';
import { messagesContract } from './contract/messages.contract.ts';
import { permissionsContract } from './contract/permissions.contract.ts';
import { requestsContract } from './contract/requests.contract.ts';
import { sendersContract } from './contract/senders.contract.ts';
import { streamsContract } from './contract/streams.contract.ts';
import type { BusEngine } from './contract/test-platform.ts';

/** The contract that every engine of the bus keeps. No row requires more than NATS with JetStream can do. */
export function busContract(engine: BusEngine): void {
  describe(`the bus (${engine.name})`, () => {
    describe('messages', () => messagesContract(engine));
    describe('requests', () => requestsContract(engine));
    describe('permissions', () => permissionsContract(engine));
    describe('connections', () => connectionsContract(engine));
    describe('senders', () => sendersContract(engine));
    describe('streams', () => streamsContract(engine));
    describe('buckets', () => bucketsContract(engine));
  });
}
