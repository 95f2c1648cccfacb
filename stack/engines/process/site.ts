import { join } from 'node:path';
import type { Site } from '../../parts/setup.ts';
import { type Plan, planAt } from '../../plan/plan.ts';
import { reachable } from '../../settings/addresses.ts';
import type { Definition } from '../../settings/definition.ts';
import type { Ports } from '../../settings/ports.ts';
import type { Installation } from '../../state/installation.ts';

/** Processes use the ports and files of this machine, and reach each other on loopback. */
export function processSite({ dataDir, stateDir }: Installation, ports: Ports): Site {
  return {
    isPrivate: false,
    ports,
    listenOn: (host) => host,
    hostOf: (_, host) => reachable(host),
    pathOf: (file) => file,
    dataPathOf: ({ folder }, file = '') => join(dataDir, folder, file),
    scratchPathOf: (part) => join(stateDir, part),
  };
}

export function planOnThisMachine(installation: Installation, definition: Definition, ports: Ports): Plan {
  return planAt({ installation, definition, ports, site: processSite(installation, ports) });
}
