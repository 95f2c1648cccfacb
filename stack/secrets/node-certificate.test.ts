import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { connect, createServer, type TlsOptions } from 'node:tls';
import { inspect, promisify } from 'node:util';
import { grpc } from 'dgraph-js';
import { expect, onTestFinished, test } from 'vitest';
import { openDgraphGraph } from '../../services/backend/graph/dgraph/dgraph-graph.ts';
import { folderOfEachTest } from '../test/folder-of-each-test.ts';
import { isCertificateOf, newNodeKey, nodeCertificate } from './node-certificate.ts';

const dir = folderOfEachTest();
const key = newNodeKey();
const cert = nodeCertificate(key);

test('a certificate is for this machine, signed by its own key, and never expires', () => {
  const read = new X509Certificate(cert);
  expect(read.subjectAltName).toBe('DNS:localhost, IP Address:127.0.0.1');
  expect([read.validFrom, read.validTo]).toEqual(['Jan  1 00:00:00 1970 GMT', 'Dec 31 23:59:59 9999 GMT']);
  expect(read.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1', '1.3.6.1.5.5.7.3.2']);
  expect(read.verify(read.publicKey)).toBe(true);
  expect(new X509Certificate(nodeCertificate(key)).serialNumber).not.toBe(read.serialNumber);
});

test('it belongs to one key only', () => {
  expect(isCertificateOf(cert, key)).toBe(true);
  expect(isCertificateOf(nodeCertificate(key), key)).toBe(true);
  expect(isCertificateOf(cert, newNodeKey())).toBe(false);
  for (const damaged of ['', 'damaged', cert.slice(0, 200)]) expect(isCertificateOf(damaged, key)).toBe(false);
  expect(isCertificateOf(cert, 'damaged')).toBe(false);
});

test('holders of the key authenticate each other, and other clients or servers are refused', async () => {
  const stranger = newNodeKey();
  const other = { key: stranger, cert: nodeCertificate(stranger) };
  expect(await meet({ key, cert }, { key, cert })).toBe('let in');
  expect(await meet({ key, cert }, other)).toBe('refused');
  expect(await meet({ key, cert }, {})).toBe('refused');
  expect(await meet(other, { key, cert })).toBe('refused');
});

type KeyAndCertificate = Pick<TlsOptions, 'key' | 'cert'>;

/** Connects a client as a node connects to another. Both trust one certificate, and each presents its own. */
async function meet(server: KeyAndCertificate, client: KeyAndCertificate): Promise<'let in' | 'refused'> {
  const trust = { ca: cert, requestCert: true, rejectUnauthorized: true };
  await using listening = createServer({ ...server, ...trust }, (socket) => {
    socket.on('error', () => socket.destroy()).end('welcome');
  });
  listening.on('tlsClientError', (_, socket) => socket.destroy());
  await once(listening.listen(0, '127.0.0.1'), 'listening');
  const { port } = listening.address() as AddressInfo;
  const socket = connect({ ...client, host: '127.0.0.1', port, ca: cert });
  const outcome = await new Promise<'let in' | 'refused'>((resolve) => {
    socket.once('data', () => resolve('let in'));
    for (const end of ['error', 'close']) socket.once(end, () => resolve('refused'));
  });
  socket.destroy();
  return outcome;
}

test('the graph client accepts it from its address, and from no other, without a warning', async () => {
  const warnings: string[] = [];
  const warned = ({ message }: Error) => warnings.push(message);
  process.on('warning', warned);
  onTestFinished(() => void process.off('warning', warned));
  const caPath = join(dir(), 'nodes.crt');
  writeFileSync(caPath, cert);
  const server = new grpc.Server();
  onTestFinished(() => server.forceShutdown());
  const pair = { private_key: Buffer.from(key), cert_chain: Buffer.from(cert) };
  const bind = promisify(server.bindAsync.bind(server));
  const port = await bind('0.0.0.0:0', grpc.ServerCredentials.createSsl(null, [pair]));
  const ask = (host: string) =>
    openDgraphGraph({ servers: [`${host}:${port}`], tls: { caPath }, requestMs: 500 }).catch((error: Error) =>
      inspect(error),
    );
  // The server offers no service, which it reports to an accepted client.
  for (const host of ['127.0.0.1', 'localhost']) expect(await ask(host), host).toContain('UNIMPLEMENTED');
  expect(await ask('127.0.0.2')).toContain("127.0.0.2 is not in the cert's list");
  expect(warnings).toEqual([]);
});
