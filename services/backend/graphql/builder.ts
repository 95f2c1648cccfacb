import SchemaBuilder from '@pothos/core';
import type { Reason } from '../../contracts/bus/messages.ts';
import type { WorkspaceId } from '../../contracts/ids.ts';
import type { Secret } from '../../contracts/secret.ts';
import type { BegunPasskey } from '../accounts/add-passkey.ts';
import type { SignInLink } from '../accounts/sign-in-links.ts';
import type { Viewer } from '../accounts/viewer.ts';
import type { SignedUrl } from '../files/tickets.ts';
import type { Node, Page } from '../graph/graph.ts';
import type { IdentifiedKey } from '../keys/identify-key.ts';
import type { SeenChange } from '../live/change-feed.ts';
import type { MailSummary } from '../mail/mail-state.ts';
import type { Access, Right } from '../members/access.ts';
import type { FilledSetting, LaunchView, ShownSetting } from '../servers/launch.ts';
import type { TokenPrincipal } from '../tokens/verify-token.ts';
import type { ToolToken } from '../tools/create-tool-token.ts';
import type { UsageHour, UsageShare, UsageSummary } from '../usage/summarize-usage.ts';
import type { SkillUsage } from '../usage/usage-of-skill.ts';
import type { Membership } from '../workspaces/find-workspaces.ts';
import type { GraphqlNeeds } from './graphql-needs.ts';
import type { Loader } from './loader.ts';
import type { Operation } from './operation.ts';

/** Dependencies of every resolver, made for each request. */
export interface GraphqlContext {
  readonly backend: GraphqlNeeds;
  readonly principal: TokenPrincipal;
  readonly requestId: string;
  readonly load: Loader;
  /** Counts the bytes read and answered. `backend.graph` and every field report to it. */
  readonly operation: Operation;
  /** Opens a workspace or throws. Every resolver of a workspace's field calls this first. */
  access(workspace: WorkspaceId, right: Right): Promise<Access>;
}

/** The value behind each GraphQL type. Types are named by text, so that no file imports another's. */
interface Objects {
  Viewer: Viewer;
  Membership: Membership;
  SignInLink: SignInLink;
  BrowserSession: Node<'browserSession'>;
  Passkey: Node<'passkey'>;
  BegunPasskey: BegunPasskey;
  PageInfo: { readonly next: string | null };
  Workspace: Node<'workspace'>;
  Person: Node<'user'>;
  Member: Node<'member'>;
  Invitation: Node<'invitation'>;
  InvitationPage: Page<'invitation'>;
  Role: Node<'role'>;
  Skill: Node<'skill'>;
  SkillFile: Node<'file'>;
  ToolPattern: Node<'toolPattern'>;
  ToolRule: Node<'toolRule'>;
  Upload: SignedUrl;
  Tool: Node<'tool'>;
  ToolToken: ToolToken;
  McpServer: Node<'mcpServer'>;
  Integration: Node<'integration'>;
  IntegrationPage: Page<'integration'>;
  Launch: LaunchView;
  ShownSetting: ShownSetting;
  DeclaredSetting: FilledSetting;
  Reason: Reason;
  Key: Node<'key'>;
  ReplacedKey: Node<'key'>;
  IdentifiedKey: IdentifiedKey;
  CreatedKey: { readonly key: Node<'key'>; readonly secret: Secret };
  Runtime: Node<'runtime'>;
  RegisteredRuntime: {
    readonly runtime: Node<'runtime'>;
    readonly secret: Secret;
    readonly overlapEndsAt: number | null;
    readonly busServers: readonly string[];
    readonly authority: string | null;
  };
  Mail: MailSummary;
  UsageRow: Node<'usage'>;
  UsageSummary: UsageSummary;
  UsageHour: UsageHour;
  UsageShare: UsageShare;
  Activity: Node<'activity'>;
  WorkspacePage: Page<'workspace'>;
  RolePage: Page<'role'>;
  MemberPage: Page<'member'>;
  SkillPage: Page<'skill'>;
  SkillUsage: SkillUsage;
  McpServerPage: Page<'mcpServer'>;
  ToolPage: Page<'tool'>;
  KeyPage: Page<'key'>;
  RuntimePage: Page<'runtime'>;
  UsagePage: Page<'usage'>;
  ActivityPage: Page<'activity'>;
  Change: SeenChange;
}

interface Types {
  Context: GraphqlContext;
  Objects: Objects;
  Scalars: { ID: { Input: string; Output: string } };
  DefaultFieldNullability: false;
}

/**
 * Each file in this folder adds its types and fields: `addRoles(builder)`. Nothing happens at import.
 * `builder.objectFields('Workspace', …)`, `queryFields` and `mutationFields` add fields to types of other files.
 */
export type Builder = PothosSchemaTypes.SchemaBuilder<PothosSchemaTypes.ExtendDefaultTypes<Types>>;

export function createBuilder(): Builder {
  const builder: Builder = new SchemaBuilder<Types>({ defaultFieldNullability: false });
  builder.queryType();
  builder.mutationType();
  builder.subscriptionType();
  return builder;
}
