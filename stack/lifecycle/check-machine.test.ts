import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { issueCertificate, makeCertificate } from '../runtime-elsewhere/test/certificate.ts';
import { certificateProblems, tlsFilesIn } from '../settings/certificate.ts';
import { checkDefinition } from '../settings/check.ts';
import { installationIn } from '../state/installation.ts';
import { checkMachine } from './check-machine.ts';

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'svc-machine-'));
  makeCertificate(dir, 'ca');
  makeCertificate(dir, 'other-ca');
  issueCertificate(dir, 'bus', { names: 'DNS:bus.example.com,IP:127.0.0.1', by: 'ca' });
  issueCertificate(dir, 'spare', { names: 'DNS:bus.example.com', by: 'ca' });
  writeFileSync(join(dir, 'empty.pem'), 'nothing\n');
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

function checkText(yaml: string): Promise<void> {
  const installation = installationIn(dir);
  const text = `id: abcdef0123456789\n${yaml}`;
  writeFileSync(installation.definitionFile, text);
  return checkMachine(installation, checkDefinition(text, installation.definitionFile));
}

describe('bind', () => {
  test.each(['127.0.0.1', '0.0.0.0', 'localhost'])('%s is an address of this machine', async (bind) => {
    await expect(checkText(`bind: ${bind}\n`)).resolves.toBeUndefined();
  });

  test.each([
    // With an empty label it is no name of DNS, so a machine without DNS gives the same answer.
    ['a name that leads nowhere', 'hello..invalid', 'its name cannot be resolved'],
    // This address is reserved for documentation, so no machine has it.
    ["another machine's address", '192.0.2.1', 'this machine has no such address'],
  ])('%s is refused with its place', async (_what, bind, why) => {
    const refusal = `svc.yaml:2:7 bind must be an address of this machine, not "${bind}": ${why}.`;
    const [message, hint] = [refusal, 'svc config check'].map((text) => expect.stringContaining(text));
    await expect(checkText(`bind: ${bind}\n`)).rejects.toMatchObject({ code: 'invalid_input', message, hint });
  });
});

interface Certificate {
  readonly cert?: string;
  readonly key?: string;
  readonly ca?: string;
  readonly hosts?: readonly string[];
  readonly now?: Date;
}

test.each<[string, Certificate, readonly string[]]>([
  ['that is right', { hosts: ['bus.example.com', '127.0.0.1'] }, []],
  ['that is none', { cert: 'empty.pem' }, ['cert cannot be used: DIR/empty.pem holds no certificate']],
  ['whose key is none', { key: 'empty.pem' }, ['key cannot be used: DIR/empty.pem is not a PEM file of that kind']],
  ['with the key of another', { key: 'spare.key' }, ['key is not the key of the certificate']],
  ['of another authority', { ca: 'other-ca.pem' }, ['ca did not sign the certificate']],
  [
    'for other names',
    { hosts: ['bus.example.org', '10.0.0.7'] },
    ['bus.example.org', '10.0.0.7'].map((name) => `cert is not for "${name}", which bus.public.servers names`),
  ],
  ['that has expired', { now: new Date('2100-01-01') }, ['cert expired at 20']],
  ['that is not valid yet', { now: new Date(0) }, ['cert is not valid before 20']],
])('a certificate %s', (_what, { hosts = ['bus.example.com'], now = new Date(), ...changed }, expected) => {
  const files = tlsFilesIn(dir, { cert: 'bus.pem', key: 'bus.key', ca: 'ca.pem', ...changed });
  const problems = certificateProblems({ files, hosts, hostsPlace: 'bus.public.servers' }, now);
  expect(problems.map(({ part, why }) => `${part} ${why}`)).toEqual(
    expected.map((one) => expect.stringContaining(one.replace('DIR', dir))),
  );
});

const bus = (tls: string) =>
  `topology: distributed\nbus:\n  port: 4222\n  public:\n    servers: [tls://bus.example.com:4222]\n    tls: ${tls}\n`;
const open = (host: string, tls: string) => `topology: distributed\npublic:\n  host: ${host}\n  ${tls}\n`;
const files = (cert: string, key: string) => `tls: files\n  cert: ${cert}.pem\n  key: ${key}.key`;

test.each<[string, string | null]>([
  [bus('{ cert: bus.pem, key: bus.key }'), null],
  [open('bus.example.com', files('bus', 'bus')), null],
  [open('bus.example.com', 'tls: acme\n  acme: { ca: ca.pem }'), null],
  [bus('{ cert: bus.pem, key: spare.key }'), '7:32 bus.public.tls.key is not the key of the certificate.'],
  [
    open('bus.example.org', files('bus', 'bus')),
    '6:9 public.cert is not for "bus.example.org", which public.host names.',
  ],
  [
    `${open('bus.example.com', files('bus', 'bus'))}publicUrls: { keys: "https://keys.example.com/mcp" }\n`,
    '6:9 public.cert is not for "keys.example.com", which publicUrls.keys names.',
  ],
  [open('bus.example.com', files('bus', 'spare')), '7:8 public.key is not the key of the certificate.'],
  [open('bus.example.com', files('none', 'bus')), '6:9 public.cert cannot be used: DIR/none.pem does not exist.'],
  [
    open('bus.example.com', 'tls: acme\n  acme: { ca: empty.pem }'),
    '6:15 public.acme.ca cannot be used: DIR/empty.pem holds no certificate.',
  ],
])('a valid certificate is accepted, and a problem is told with its place: %s', async (yaml, problem) => {
  if (problem === null) await expect(checkText(yaml)).resolves.toBeUndefined();
  else await expect(checkText(yaml)).rejects.toThrow(`svc.yaml:${problem.replace('DIR', dir)}`);
});
