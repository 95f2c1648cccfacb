import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { installationIn } from '../installation.ts';
import { certificateProblems } from './bus-certificate.ts';
import { checkDefinition } from './check.ts';
import { checkMachine } from './check-machine.ts';

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'svc-machine-'));
  authority('ca');
  authority('other-ca');
  certificate('bus', 'DNS:bus.example.com,IP:127.0.0.1');
  certificate('spare', 'DNS:bus.example.com');
  writeFileSync(join(dir, 'empty.pem'), 'nothing\n');
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: dir, stdio: 'ignore' });
const newKey = (name: string) => ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', name];

function authority(name: string): void {
  openssl('req', '-x509', ...newKey(`${name}.key`), '-out', `${name}.pem`, '-days', '30', '-subj', `/CN=${name}`);
}

function certificate(name: string, names: string): void {
  openssl('req', ...newKey(`${name}.key`), '-out', `${name}.csr`, '-subj', `/CN=${name}`);
  writeFileSync(join(dir, 'names'), `subjectAltName=${names}`);
  const issuer = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial'];
  openssl('x509', '-req', '-in', `${name}.csr`, ...issuer, '-out', `${name}.pem`, '-days', '30', '-extfile', 'names');
}

function check(bind: string): Promise<void> {
  const installation = installationIn(dir);
  const text = `id: abcdef0123456789\nbind: ${bind}\n`;
  writeFileSync(installation.definitionFile, text);
  return checkMachine(installation, checkDefinition(text, installation.definitionFile));
}

describe('bind', () => {
  test.each(['127.0.0.1', '0.0.0.0', 'localhost'])('%s is an address of this machine', async (bind) => {
    await expect(check(bind)).resolves.toBeUndefined();
  });

  test.each([
    ['a name that leads nowhere', 'hello.invalid'],
    // Kept for documentation: no machine has it.
    ["another machine's address", '192.0.2.1'],
  ])('%s is refused with its place', async (_what, bind) => {
    const told = `svc.yaml:2:7 bind must be an address of this machine, not "${bind}" (E`;
    await expect(check(bind)).rejects.toMatchObject({
      code: 'invalid_input',
      message: expect.stringContaining(told),
      hint: expect.stringContaining('svc config check'),
    });
  });
});

describe('the certificate of a bus that others reach', () => {
  const whole = { cert: 'bus.pem', key: 'bus.key', ca: 'ca.pem' };
  const problems = (tls: Partial<typeof whole>, servers = ['tls://bus.example.com:4222'], now = new Date()) =>
    certificateProblems(dir, { servers, bind: '0.0.0.0', tls: { ...whole, ...tls } }, now).map(
      ({ part, why }) => `${part} ${why}`,
    );

  test('is right', () => {
    expect(problems({}, ['tls://bus.example.com:4222', 'tls://127.0.0.1:4222'])).toEqual([]);
  });

  test.each<[string, Partial<typeof whole>, string]>([
    ['that is not there', { cert: 'none.pem' }, 'cert cannot be used: DIR/none.pem is not there'],
    ['that is none', { cert: 'empty.pem' }, 'cert cannot be used: DIR/empty.pem holds no certificate'],
    ['whose key is none', { key: 'empty.pem' }, 'key cannot be used: DIR/empty.pem is no PEM file of that kind'],
    ['with the key of another', { key: 'spare.key' }, 'key is not the key of bus.public.tls.cert'],
    ['of another authority', { ca: 'other-ca.pem' }, 'ca does not vouch for bus.public.tls.cert'],
  ])('%s is refused', (_what, tls, told) => {
    expect(problems(tls)).toEqual([told.replace('DIR', dir)]);
  });

  test('for another name is refused', () => {
    expect(problems({}, ['tls://bus.example.org:4222', 'tls://10.0.0.7:4222'])).toEqual([
      'cert is not for "bus.example.org", which bus.public.servers names',
      'cert is not for "10.0.0.7", which bus.public.servers names',
    ]);
  });

  test('that has expired, or is of the future, is refused', () => {
    expect(problems({}, undefined, new Date('2100-01-01'))).toEqual([expect.stringMatching(/^cert has expired on 20/)]);
    expect(problems({}, undefined, new Date(0))).toEqual([expect.stringMatching(/^cert is not valid before 20/)]);
  });
});
