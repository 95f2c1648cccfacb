import type { ContainerInspectInfo } from 'dockerode';

/** Ports of this machine that running containers have. A stopped container has none: another program may have taken its port. */
export function portsHeldBy(found: readonly Pick<ContainerInspectInfo, 'NetworkSettings'>[]): ReadonlySet<number> {
  const bindings = found.flatMap(({ NetworkSettings }) => Object.values(NetworkSettings.Ports));
  // Docker lists a port that is not published as null.
  return new Set(bindings.flatMap((list) => (list ?? []).map(({ HostPort }) => Number(HostPort))));
}
