import { expect, test } from 'vitest';
import type { Definition } from '../../settings/definition.ts';
import { usualPorts } from '../../settings/ports.ts';
import { closedBus } from '../closed-bus.ts';
import { planFor } from '../plan-of.ts';
import { labels } from './names.ts';
import { forwarderOf, targetsOf } from './run-alone.ts';
import { containerOf, planFrom, plannedFrom } from './test/planned.ts';

const yaml = 'graph: dgraph\n';
const prefix = 'svc-abcdef0123456789';
const nodes = ['nats', 'dgraph-zero', 'dgraph-alpha'];

test.each(nodes)('%s for one command is its container, which Docker does not restart and svc up replaces', (name) => {
  const { options } = containerOf(plannedFrom(yaml), name);
  const alone = containerOf(plannedFrom(yaml, { runsAlone: true }), name).options;
  const hash = alone.Labels?.[labels.hash];
  expect(hash).not.toBe(options.Labels?.[labels.hash]);
  expect(alone).toEqual({
    ...options,
    Labels: { ...options.Labels, [labels.alone]: 'true', [labels.hash]: hash },
    HostConfig: { ...options.HostConfig, RestartPolicy: { Name: 'no', MaximumRetryCount: 0 } },
  });
});

test('a way leads from loopback to what a backend uses of them, and to nothing else', () => {
  const parts = nodes.map((name) => containerOf(plannedFrom(yaml), name).part);
  const targets = parts.flatMap(targetsOf);
  const options = forwarderOf(targets, '1000:1000', planFrom(yaml));
  expect(options.Entrypoint.slice(2)).toEqual(['9000=nats:4222', '9001=dgraph-alpha:8080', '9002=dgraph-alpha:9080']);
  const free = [{ HostIp: '127.0.0.1', HostPort: '0' }];
  expect(options).toMatchObject({
    User: '1000:1000',
    Labels: { [labels.installation]: 'abcdef0123456789', [labels.part]: 'forward', [labels.alone]: 'true' },
    HostConfig: {
      PortBindings: { '9000/tcp': free, '9001/tcp': free, '9002/tcp': free },
      ...{ NetworkMode: `${prefix}-forward`, ReadonlyRootfs: true, CapDrop: ['ALL'] },
    },
  });
});

test('only this machine reaches NATS, so that it needs no certificate', () => {
  const open = 'port: 4222, public: { servers: ["tls://bus.example.com:4222"], tls: { cert: c.pem, key: k.pem } }';
  const { definition, installation } = planFrom(`bus: { ${open} }\n`);
  const natsIn = (chosen: Definition) =>
    planFor(installation, chosen, usualPorts).parts.find(({ service }) => service === 'nats');
  const [plain, closed] = [natsIn(definition), natsIn(closedBus(definition))];
  expect([plain?.variables.TLS, closed?.variables.TLS]).toEqual([expect.stringContaining('tls {'), '']);
  expect([plain?.rooms, closed?.rooms, closed?.published]).toEqual([['platform', 'bus'], ['bus'], []]);
});
