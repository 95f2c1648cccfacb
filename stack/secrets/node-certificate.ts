import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  randomBytes,
  sign,
  X509Certificate,
} from 'node:crypto';

/** A new key by which the nodes of a Dgraph authenticate each other, in PEM form. */
export function newNodeKey(): string {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' })
    .privateKey.export({ type: 'pkcs8', format: 'pem' })
    .toString();
}

/** A self-signed certificate of such a key, for this machine, clients and servers. It never expires. */
export function nodeCertificate(key: string): string {
  const privateKey = createPrivateKey(key);
  const publicKey = createPublicKey(privateKey).export({ type: 'spki', format: 'der' });
  const name = sequence(der(0x31, sequence(commonName, der(0x0c, Buffer.from('Dgraph of svc')))));
  // The whole range of dates: a wrong clock locks no node out.
  const always = sequence(der(0x17, Buffer.from('700101000000Z')), der(0x18, Buffer.from('99991231235959Z')));
  const extensions = sequence(
    extension(alternativeName, sequence(der(0x82, Buffer.from('localhost')), der(0x87, Buffer.from([127, 0, 0, 1])))),
    extension(extendedUse, sequence(serverAuthentication, clientAuthentication)),
  );
  const content = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(15)])),
    ecdsaWithSha256,
    name,
    always,
    name,
    publicKey,
    der(0xa3, extensions),
  );
  const signature = der(0x03, Buffer.concat([Buffer.from([0]), sign('sha256', content, privateKey)]));
  return new X509Certificate(sequence(content, ecdsaWithSha256, signature)).toString();
}

/** Whether the certificate belongs to this key. Never throws. */
export function isCertificateOf(certificate: string, key: string): boolean {
  try {
    return new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key));
  } catch {
    return false;
  }
}

/** A DER value with its tag and length. */
function der(tag: number, content: Buffer): Buffer {
  const { length } = content;
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

function sequence(...values: readonly Buffer[]): Buffer {
  return der(0x30, Buffer.concat(values));
}

function extension(identifier: Buffer, value: Buffer): Buffer {
  return sequence(identifier, der(0x04, value));
}

function identifier(...bytes: readonly number[]): Buffer {
  return der(0x06, Buffer.from(bytes));
}

const commonName = identifier(0x55, 0x04, 0x03);
const alternativeName = identifier(0x55, 0x1d, 0x11);
const extendedUse = identifier(0x55, 0x1d, 0x25);
const serverAuthentication = identifier(0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x01);
const clientAuthentication = identifier(0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x02);
const ecdsaWithSha256 = sequence(identifier(0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02));
