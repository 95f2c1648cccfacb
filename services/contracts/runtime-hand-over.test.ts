import { describe, expect, test } from 'vitest';
import { dockerCommand, envText, handOver, pastedBlock, systemdUnit, warningAbout } from './runtime-hand-over.ts';

const edge = { name: 'edge', key: 'RTK_x', busServers: ['tls://a.example.com:4222', 'tls://b.example.com:4222'] };

describe('the files for another machine', () => {
  test('names its own file, and keeps the other files beside it', () => {
    expect(handOver({ ...edge, authority: null }, null)).toEqual({
      env: {
        RUNTIME_KEY: 'RTK_x',
        BUS_SERVERS: 'tls://a.example.com:4222,tls://b.example.com:4222',
        SVC_WORKING_DIR: 'edge-work',
      },
      envFile: 'edge.env',
      authority: null,
      command: 'svc runtime start --variable-file edge.env',
    });
  });

  test("has the bus's certificate authority in a separate file", () => {
    const { authority, env } = handOver({ ...edge, authority: 'PEM' }, 'lab.env');
    expect(authority).toEqual({ file: 'lab-ca.pem', pem: 'PEM' });
    expect(env).toMatchObject({ BUS_CA_PATH: 'lab-ca.pem', SVC_WORKING_DIR: 'lab-work' });
  });

  test("has file names that a shell accepts, whatever the runtime's name", () => {
    const { command, envFile } = handOver({ ...edge, name: 'my edge', authority: null }, null);
    expect([envFile, command]).toEqual(['my-edge.env', 'svc runtime start --variable-file my-edge.env']);
    expect(handOver({ ...edge, authority: null }, 'my edge.env').command).toBe(
      "svc runtime start --variable-file 'my edge.env'",
    );
  });

  test('has one line for each variable', () => {
    expect(envText('edge', handOver({ ...edge, authority: null }, null))).toBe(
      [
        '# The runtime "edge". Keep this file private: its key gives the rights of the runtime.',
        'RUNTIME_KEY=RTK_x',
        'BUS_SERVERS=tls://a.example.com:4222,tls://b.example.com:4222',
        'SVC_WORKING_DIR=edge-work',
        '',
      ].join('\n'),
    );
  });

  test('is a block of here-documents for a shell, which has the key in no argument', () => {
    const pem = 'a comment\nEND\n-----BEGIN CERTIFICATE-----\nMII=\n-----END CERTIFICATE-----\n';
    const given = handOver({ ...edge, authority: pem }, null);
    const block = pastedBlock({ given, name: 'edge', version: '1.2.3', isWritten: false });
    expect(block).toBe(
      [
        " mkdir -p svc-runtime-edge && rm -f svc-runtime-edge/edge.env && (umask 077 && cat > svc-runtime-edge/edge.env) <<'END' &&",
        'RUNTIME_KEY=RTK_x',
        'BUS_SERVERS=tls://a.example.com:4222,tls://b.example.com:4222',
        'BUS_CA_PATH=edge-ca.pem',
        'SVC_WORKING_DIR=edge-work',
        'END',
        "cat > svc-runtime-edge/edge-ca.pem <<'END' &&",
        '-----BEGIN CERTIFICATE-----\nMII=\n-----END CERTIFICATE-----',
        'END',
        'npx -y -p svc-platform@1.2.3 svc runtime start --variable-file svc-runtime-edge/edge.env',
      ].join('\n'),
    );
    expect(pastedBlock({ given, name: 'edge', version: '1.2.3', isWritten: true })).toBe(
      'chmod 600 edge.env &&\nnpx -y -p svc-platform@1.2.3 svc runtime start --variable-file edge.env',
    );
  });

  test('is a container that gets the signal of docker stop itself, and time to end calls', () => {
    const command = dockerCommand('edge', handOver({ ...edge, authority: null }, 'my edge.env'), {
      ...{ version: '1.2.3', image: 'node:24' },
    });
    expect(command.split(' \\\n  ')).toEqual([
      'docker run -d --name svc-runtime-edge --init --restart unless-stopped --stop-timeout 40',
      '-v "$PWD":/runtime -w /runtime node:24',
      `npx -y -p svc-platform@1.2.3 -c 'exec svc-platform runtime start --variable-file '\\''my edge.env'\\'''`,
    ]);
  });

  test('includes a systemd unit that reads that file and keeps its homes', () => {
    const unit = systemdUnit('my edge', handOver({ ...edge, authority: null }, 'my edge.env')).split('\n');
    expect(unit).toContain('EnvironmentFile=/etc/svc/my edge.env');
    expect(unit).toContain('StateDirectory=svc-runtime-my-edge');
    // biome-ignore lint/suspicious/noTemplateCurlyInString: systemd fills it in.
    expect(unit).toContain('ExecStart=/usr/bin/env SVC_WORKING_DIR=${STATE_DIRECTORY} svc-platform runtime start');
    expect(unit).toContain('Environment=HOME=%S/svc-runtime-my-edge');
  });
});

test.each([
  [['tls://bus.example.com:4222'], null],
  [
    ['nats://127.0.0.1:4222'],
    /is a loopback address, which other machines cannot reach\. An operator sets bus\.public/,
  ],
  [['nats://10.0.0.7:4222'], /nats:\/\/10\.0\.0\.7:4222 has no TLS/],
])('of the bus at %j whoever registers is told %s', (servers, told) => {
  if (told === null) expect(warningAbout(servers)).toBeNull();
  else expect(warningAbout(servers)).toMatch(told);
});
