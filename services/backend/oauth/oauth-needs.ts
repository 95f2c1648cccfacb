import type { ChangeNeeds } from '../activity/change.ts';
import type { WithConfig, WithLog } from '../bus/with-bus.ts';
import type { WithAgentTokens } from '../keys/check-key.ts';
import type { WithSecrets } from '../secrets/secrets.ts';
import type { SigningKeys } from '../tokens/signing-keys.ts';
import type { VerifyToken } from '../tokens/verify-token.ts';

/** Everything that the authorization server uses. */
export interface OauthNeeds extends ChangeNeeds, WithSecrets, WithLog, WithConfig, WithAgentTokens {
  readonly signingKeys: SigningKeys;
  readonly verifyToken: VerifyToken;
}
