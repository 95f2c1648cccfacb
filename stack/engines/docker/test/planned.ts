import { basename } from 'node:path';
import type { Plan } from '../../../plan/plan.ts';
import { newBusSeed } from '../../../secrets/bus-seeds.ts';
import { checkDefinition } from '../../../settings/check.ts';
import { usualPorts } from '../../../settings/ports.ts';
import { installationIn } from '../../../state/installation.ts';
import { planFor } from '../../plan-of.ts';
import { type ContainerPlan, containerPlansOf, type Facts } from '../container-plan.ts';

const secrets: Readonly<Record<string, string>> = {
  'bus-callout.seed': newBusSeed('user'),
  'bus-system.seed': newBusSeed('user'),
  'bus-issuer.seed': newBusSeed('account'),
  'bus-routes.key': 'the-routes',
  'graphdb-token.key': 'the-token',
};

export const facts: Facts = {
  user: '1000:1000',
  serviceImage: 'svc-platform:1.2.3-abc',
  images: {
    'svc-platform:1.2.3-abc': 'sha256:1',
    'nats:2.15.0-alpine': 'sha256:2',
    'caddy:2.11.4-alpine': 'sha256:3',
    'dgraph/dgraph:v25.4.0': 'sha256:4',
  },
  fingerprintOf: (file) => `of ${file}`,
  runsAlone: false,
  readSecret: (file) => secrets[basename(file)] ?? '',
  admins: '172.18.0.0/16',
};

const ports = {
  ...usualPorts,
  nats: 4222,
  'nats-2': 4223,
  'nats-3': 4224,
  'caddy-https': 443,
  'caddy-http': 80,
  'backend-1': 3201,
  'backend-2': 3202,
};

/** The plan of an installation in containers with this svc.yaml. */
export function planFrom(yaml = ''): Plan {
  const text = `id: abcdef0123456789\ntopology: distributed\nengine: docker\n${yaml}`;
  return planFor(installationIn('/srv/svc'), checkDefinition(text, 'svc.yaml'), ports);
}

/** The containers of that plan. */
export function plannedFrom(yaml = '', changed: Partial<Facts> = {}): readonly ContainerPlan[] {
  return containerPlansOf(planFrom(yaml), { ...facts, ...changed });
}

export function containerOf(containers: readonly ContainerPlan[], name: string): ContainerPlan {
  const found = containers.find(({ part }) => part.name === name);
  if (found === undefined) throw new Error(`there is no container of ${name}`);
  return found;
}
