import { usePlace } from '../app/workspace.ts';
import { ConnectAgent } from './connect-agent.tsx';
import { PageHead } from './page-head.tsx';
import { ServiceHealth } from './service-health.tsx';

export function HomePage() {
  const { workspace } = usePlace();
  return (
    <div className="grid gap-10">
      <PageHead
        title={workspace.name}
        about="Agents connect to the remote MCP server and use this workspace's tools."
      />
      <ServiceHealth />
      <ConnectAgent />
    </div>
  );
}
