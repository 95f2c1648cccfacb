import type { WithAttempts } from '../accounts/attempts.ts';
import type { WithPasswords } from '../accounts/passwords.ts';
import type { ChangeNeeds } from '../activity/change.ts';
import type { WithConfig, WithLog } from '../bus/with-bus.ts';
import type { WithBlobs } from '../files/blobs.ts';
import type { Integrations } from '../integrations/integrations.ts';
import type { ChangeFeed } from '../live/change-feed.ts';
import type { WithMail } from '../mail/mail-sender.ts';
import type { WithProcesses } from '../runtimes/processes.ts';
import type { WithSecrets } from '../secrets/secrets.ts';
import type { SigningKeys } from '../tokens/signing-keys.ts';
import type { VerifyToken } from '../tokens/verify-token.ts';
import type { WithNameTries } from '../workspaces/name-tries.ts';
import type { WithTokenRevocation } from '../workspaces/token-revocation.ts';

/** The dependencies of queries and mutations. */
export interface GraphqlNeeds
  extends ChangeNeeds,
    WithConfig,
    WithLog,
    WithBlobs,
    WithProcesses,
    WithSecrets,
    WithMail,
    WithPasswords,
    WithAttempts,
    WithNameTries,
    WithTokenRevocation {
  /** Version of the program. */
  readonly version: string;
  readonly verifyToken: VerifyToken;
  readonly signingKeys: SigningKeys;
  readonly changes: ChangeFeed;
  readonly integrations: Integrations;
}
