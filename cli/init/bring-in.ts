import { up } from '../../stack/operations/up.ts';
import { isInContainers } from '../../stack/state/containers-record.ts';
import type { Installation } from '../../stack/state/installation.ts';
import { environment } from '../command.ts';
import type { ReferenceValues } from '../import/ask-values.ts';
import { carryOut, existingServers, type Imported } from '../import/carry-out.ts';
import { judgeServers } from '../import/judge-servers.ts';
import type { FoundServer } from '../import/sources.ts';
import type { Tenancy } from '../objects/platform.ts';
import type { Terminal } from '../output/terminal.ts';
import { describeUp } from '../output/up.ts';
import { showStart } from '../start/bring-up.ts';

/** Starts the new platform in the background, as `svc up` does. */
export async function start(installation: Installation, terminal: Terminal) {
  const result = await showStart({ terminal, installation, onReady: null }, (told) =>
    up({ ...told, installation, env: environment, foreground: false, asCopy: false }),
  );
  terminal.result(describeUp(result.status, terminal));
  return result.status;
}

export interface BringingIn {
  readonly installation: Installation;
  readonly tenancy: Tenancy;
  /** The platform's own addresses for agents. */
  readonly ownUrls: readonly string[];
  readonly values: ReferenceValues;
  readonly home: string;
  readonly shares: boolean;
}

/** Adds the MCP servers of other files to the running platform. */
export async function bringIn(servers: readonly FoundServer[], bringing: BringingIn): Promise<readonly Imported[]> {
  const { installation, tenancy, ownUrls, values, home, shares } = bringing;
  // They were chosen already, disabled ones among them.
  const only = servers.map(({ name }) => name);
  const judged = judgeServers(servers, { only, replaces: false, existing: await existingServers(tenancy), ownUrls });
  const elsewhere = isInContainers(installation);
  const carryingOut = { tenancy, runtime: null, shares, values: { find: values.find, home, elsewhere } };
  const imported: Imported[] = [];
  for (const one of judged) imported.push(await carryOut(one, carryingOut));
  return imported;
}
