import type { Callout } from './callout.ts';
import type { SystemAccount } from './system-account.ts';

/** The backend's other accounts on NATS: one decides which clients connect, one lists and ends connections. */
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
