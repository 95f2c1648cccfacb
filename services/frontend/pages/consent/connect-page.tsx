import { ConnectAgent } from '../home/connect-agent.tsx';
import { ServiceHealth } from '../home/service-health.tsx';

/** What a person needs without an account: the addresses, the states, and how an agent is connected. */
export function ConnectPage() {
  return (
    <main className="mx-auto grid max-w-content gap-12 px-4 py-10 tablet:px-6">
      <h1 className="font-semibold text-20 tracking-tight">Connect to this platform</h1>
      <ServiceHealth />
      <ConnectAgent />
    </main>
  );
}
