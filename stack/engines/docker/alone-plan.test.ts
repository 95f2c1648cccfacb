import { expect, test } from 'vitest';
import { checkDefinition } from '../../settings/check.ts';
import type { Definition } from '../../settings/definition.ts';
import { usualPorts } from '../../settings/ports.ts';
import { installationIn } from '../../state/installation.ts';
import { closedBus } from '../closed-bus.ts';
import { planFor } from '../plan-of.ts';
import { aloneNetworksOf, aloneOf, forwarderOf, forwardsTo } from './alone-plan.ts';
import { containerOf, plannedFrom } from './test/planned.ts';

const yaml = 'graph: dgraph\n';
const text = `id: abcdef0123456789\ntopology: distributed\nengine: docker\n${yaml}`;
const plan = planFor(installationIn('/srv/svc'), checkDefinition(text, 'svc.yaml'), usualPorts);
const prefix = 'svc-abcdef0123456789';
const labels = (part: string) => ({
  ...{ 'svc.installation': 'abcdef0123456789', 'svc.part': `alone-${part}`, 'svc.alone': 'true' },
});

test.each([
  ['nats', 'bus'],
  ['dgraph-zero', 'graph'],
  ['dgraph-alpha', 'graph'],
])('%s alone is the same container on its volume, published nowhere and started again by nobody', (name, room) => {
  const container = containerOf(plannedFrom(yaml), name);
  const { options } = aloneOf(container, plan);
  expect(options).toEqual({
    ...container.options,
    ...{ name: `${prefix}-alone-${name}`, Labels: labels(name), ExposedPorts: {} },
    HostConfig: {
      ...container.options.HostConfig,
      Binds: [`${prefix}-${name}:/data:nocopy`, `/srv/svc/state/containers/alone-${name}:/run/svc:ro,Z`],
      NetworkMode: `${prefix}-${room}`,
      PortBindings: {},
      RestartPolicy: { Name: 'no' },
    },
    NetworkingConfig: { EndpointsConfig: { [`${prefix}-${room}`]: { Aliases: [name] } } },
  });
});

test('a way leads from loopback to what a backend uses of them, and to nothing else', () => {
  const wanted = ['nats', 'dgraph-zero', 'dgraph-alpha'].map((name) => containerOf(plannedFrom(yaml), name));
  const { options, joins } = forwarderOf(forwardsTo(wanted), plan, '1000:1000');
  expect(options.Cmd).toEqual(['4222=nats:4222', '8080=dgraph-alpha:8080', '9080=dgraph-alpha:9080']);
  const free = [{ HostIp: '127.0.0.1', HostPort: '0' }];
  expect(options.HostConfig).toMatchObject({
    PortBindings: { '4222/tcp': free, '8080/tcp': free, '9080/tcp': free },
    ...{ NetworkMode: `${prefix}-alone`, ReadonlyRootfs: true, CapDrop: ['ALL'] },
  });
  expect([options.User, options.Labels, joins]).toEqual([
    ...['1000:1000', labels('way')],
    [`${prefix}-bus`, `${prefix}-graph`],
  ]);
  expect(aloneNetworksOf(plan.definition).map(({ Name }) => Name)).toEqual([`${prefix}-alone`, ...joins]);
});

test('only this machine reaches NATS, so that it needs no certificate', () => {
  const open = 'port: 4222, public: { servers: ["tls://bus.example.com:4222"], tls: { cert: c.pem, key: k.pem } }';
  const { definition } = planFor(
    installationIn('/srv/svc'),
    checkDefinition(`${text}bus: { ${open} }\n`, 'svc.yaml'),
    usualPorts,
  );
  const tlsOf = (chosen: Definition) => planFor(plan.installation, chosen, usualPorts).parts[4]?.variables.TLS;
  expect([tlsOf(definition), tlsOf(closedBus(definition))]).toEqual([expect.stringContaining('tls {'), '']);
});
