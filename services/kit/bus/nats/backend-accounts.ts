import type { Callout } from './callout.ts';
import type { SystemAccount } from './system-account.ts';

/** What the backend has on NATS beside the bus: the account that decides who connects, and the one that sees and ends connections. */
export class BackendAccounts {
  readonly callout: Callout;
  readonly system: SystemAccount;

  constructor(callout: Callout, system: SystemAccount) {
    this.callout = callout;
    this.system = system;
  }

  async close(): Promise<void> {
    await Promise.all([this.callout.close(), this.system.close()]);
  }
}
