import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findProgram } from '../machine/find-program.ts';
import { ask } from '../parts/test/ask.ts';
import { makeCertificate } from '../runtime-elsewhere/test/certificate.ts';
import { freePorts } from './free-ports.ts';
import { runWithTest } from './run-with-test.ts';
import { until } from './until.ts';

/** `pebble`, an ACME authority that validates like a real one, and that no client trusts. */
export const hasPebble = findProgram('pebble', process.env.PATH) !== null;

/**
 * An ACME authority that resolves every name to this machine, and sends its challenges to these ports. It listens at
 * an address of this machine, by default loopback.
 */
export async function startAuthority(
  asks: { readonly httpPort: number; readonly tlsPort: number },
  address = '127.0.0.1',
) {
  const folder = mkdtempSync(join(tmpdir(), 'svc-authority-'));
  const [port = 0, managementPort = 0, namePort = 0] = await freePorts(3);
  makeCertificate(folder, 'own', `DNS:localhost,IP:${address}`);
  const pebble = {
    listenAddress: `${address}:${port}`,
    managementListenAddress: `127.0.0.1:${managementPort}`,
    certificate: 'own.pem',
    privateKey: 'own.key',
    ...asks,
  };
  writeFileSync(join(folder, 'pebble.json'), JSON.stringify({ pebble }));
  const names = await startNameServer(namePort);
  const command = ['pebble', '-config', join(folder, 'pebble.json'), '-dnsserver', `127.0.0.1:${namePort}`];
  const running = runWithTest(command, folder, { PEBBLE_VA_NOSLEEP: '1' });
  const ownFile = join(folder, 'own.pem');
  const ca = readFileSync(ownFile, 'utf8');
  const root = () => ask({ host: 'localhost', path: '/roots/0', port: managementPort, ca });
  await until(() =>
    root().then(
      ({ status }) => status === 200,
      () => false,
    ),
  );
  return {
    directory: `https://${address}:${port}/dir`,
    /** The authority of the directory's certificate. */
    ownFile,
    /** The authority of the certificates that it issues. */
    root: (await root()).body,
    async [Symbol.asyncDispose]() {
      await running[Symbol.asyncDispose]();
      await names[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/**
 * Answers over TCP (RFC 7766) that every name is at this machine (RFC 1035 §4.1, type A), and knows no other records.
 * Pebble sends one question in each connection, which ends the message.
 */
async function startNameServer(port: number): Promise<AsyncDisposable> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', (chunk) => {
      const message = Buffer.from(chunk.subarray(lengthBytes));
      const isAsked = message.readUInt16BE(message.length - 4) === typeA;
      // An authoritative answer without an error, with one record or none.
      message.writeUInt16BE(0x8400, 2);
      message.writeUInt16BE(isAsked ? 1 : 0, 6);
      const answer = isAsked ? Buffer.concat([message, toThisMachine]) : message;
      const length = Buffer.alloc(lengthBytes);
      length.writeUInt16BE(answer.length);
      socket.end(Buffer.concat([length, answer]));
    });
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return server;
}

const lengthBytes = 2;
const typeA = 1;
/** The name of the question (at byte 12), type A, class IN, one second, four bytes: 127.0.0.1. */
const toThisMachine = Buffer.from([0xc0, 12, 0, typeA, 0, 1, 0, 0, 0, 1, 0, 4, 127, 0, 0, 1]);
