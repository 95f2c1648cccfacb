import type { ProcessId } from '../contracts/ids.ts';
import type { WithProvider } from './accounts/provider.ts';
import type { GraphqlNeeds } from './graphql/graphql-needs.ts';
import type { MailSender } from './mail/mail-sender.ts';
import type { VerifyAgentToken, VerifyMcpToken } from './tokens/verify-token.ts';

/** All dependencies of the backend, built once. Functions name the parts they need: `WithGraph & WithBus`. */
export interface Backend extends GraphqlNeeds, WithProvider {
  readonly process: ProcessId;
  readonly mailSender: MailSender;
  readonly verifyMcpToken: VerifyMcpToken;
  readonly verifyAgentToken: VerifyAgentToken;
}
