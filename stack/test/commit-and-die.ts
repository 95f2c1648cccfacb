import { openGraph } from '../../services/backend/graph/open-graph.ts';
import { createRole } from '../../services/backend/roles/change-roles.ts';
import { openSecrets } from '../../services/backend/secrets/secrets.ts';
import { createMcpServer } from '../../services/backend/servers/change-servers.ts';
import type { WorkspaceId } from '../../services/contracts/ids.ts';
import type { Bus } from '../../services/kit/bus/bus.ts';
import { readEnv } from '../../services/kit/env.ts';

/**
 * A process that commits a change as the backend does, and is killed before it notifies the bus or a runtime. It gets
 * the environment of the backend, and the change as JSON.
 */
const die = () => process.kill(process.pid, 'SIGKILL');
const { workspace, role, mcpServer } = JSON.parse(process.argv[2] ?? '') as {
  readonly workspace: WorkspaceId;
  readonly role?: Parameters<typeof createRole>[3];
  readonly mcpServer?: Parameters<typeof createMcpServer>[3];
};
const { env: config } = readEnv('backend', process.env);
const backend = {
  config,
  graph: await openGraph({ url: config.PRIVATE_GRAPHDB_URL }),
  secrets: openSecrets({ present: config.ENCRYPTION_KEY, previous: undefined }),
  bus: { publish: die } as unknown as Bus,
  commandRuntimes: die,
};
const operator = { kind: 'operator', name: 'root' } as const;
if (role !== undefined) await createRole(backend, operator, workspace, role);
if (mcpServer !== undefined) await createMcpServer(backend, operator, workspace, mcpServer);
