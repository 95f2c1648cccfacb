// Made by `npm run operations` from ../operations.graphql.

import type { Operation } from '../operation.ts';

/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
/** Of the workspace: its configuration, the states of its MCP servers, its keys, its counted calls. Or of the own account. */
export type ChangeKind =
  | 'catalogue'
  | 'status'
  | 'key'
  | 'calls'
  | 'account';

/** Each role includes the rights of those before it. */
export type MemberRole =
  | 'viewer'
  | 'editor'
  | 'admin'
  | 'owner';

export type MemberInput = {
  readonly email: string;
  readonly role: MemberRole;
};

export type MemberPatch = {
  readonly role?: MemberRole | null | undefined;
  readonly suspended?: boolean | null | undefined;
  readonly ifVersion?: number | null | undefined;
};

export type ToolRuleEffect =
  | 'allow'
  | 'deny';

export type McpServerKind =
  | 'child'
  | 'http';

export type McpServerStatus =
  | 'Connected'
  | 'Disconnected'
  | 'Error';

export type Health =
  | 'green'
  | 'yellow'
  | 'red';

export type Author =
  | 'operator'
  | 'member';

export type KeyState =
  | 'valid'
  | 'expired'
  | 'revoked';

/** What a list of tools holds from the start: the tools of loaded skills, or those of all skills. */
export type KeyDisclosure =
  | 'skills'
  | 'all';

export type IntegrationState =
  | 'connected'
  | 'expired'
  | 'needs_authorization';

/** own: an admin entered it. dynamic: the platform registered itself. document: the platform’s metadata. */
export type IntegrationClient =
  | 'document'
  | 'dynamic'
  | 'own';

export type IntegrationPatch = {
  /** Empty: the platform registers itself. */
  readonly clientId?: string | null | undefined;
  /** Stored encrypted, never shown. Absent: a public client. */
  readonly clientSecret?: string | null | undefined;
  /** Empty: those that the MCP server names. */
  readonly scopes?: ReadonlyArray<string> | null | undefined;
};

export type CreateWorkspaceInput = {
  readonly name: string;
  /** For operators. A person owns what the person creates. */
  readonly ownerEmail?: string | null | undefined;
};

export type RoleInput = {
  readonly name: string;
  readonly description?: string | null | undefined;
  readonly enabled?: boolean | null | undefined;
  readonly skills?: ReadonlyArray<string> | null | undefined;
  readonly readOnly?: boolean | null | undefined;
  readonly rules?: ReadonlyArray<ToolRuleInput> | null | undefined;
};

export type RolePatch = {
  readonly name?: string | null | undefined;
  readonly description?: string | null | undefined;
  readonly enabled?: boolean | null | undefined;
  readonly skills?: ReadonlyArray<string> | null | undefined;
  readonly readOnly?: boolean | null | undefined;
  readonly rules?: ReadonlyArray<ToolRuleInput> | null | undefined;
  readonly ifVersion?: number | null | undefined;
};

/** Tools by their MCP server's name and their own, which may hold * for any characters. */
export type ToolRuleInput = {
  readonly effect: ToolRuleEffect;
  readonly mcpServer: string;
  readonly tool: string;
};

export type SkillInput = {
  readonly name: string;
  readonly description?: string | null | undefined;
  readonly instructions?: string | null | undefined;
  readonly tools?: ReadonlyArray<ToolRef> | null | undefined;
};

export type SkillFileInput = {
  /** Relative, such as references/forms.md */
  readonly path: string;
  /** sha256 of the bytes, as 64 hexadecimal digits. */
  readonly digest: string;
  readonly sizeBytes: number;
  /** sha256 of the file that may be replaced, empty for none. Absent: any. */
  readonly ifDigest?: string | null | undefined;
};

export type SkillPatch = {
  readonly name?: string | null | undefined;
  readonly description?: string | null | undefined;
  readonly instructions?: string | null | undefined;
  readonly tools?: ReadonlyArray<ToolRef> | null | undefined;
  readonly ifVersion?: number | null | undefined;
};

/** A tool by its MCP server's name and its own; it may be named before the MCP server has listed it. With * for any characters, all listed tools that match. */
export type ToolRef = {
  readonly mcpServer: string;
  readonly tool: string;
};

export type McpServerInput = {
  readonly name: string;
  readonly launch: LaunchInput;
  /** Name of its runtime; absent: the platform's own. */
  readonly runtime?: string | null | undefined;
  readonly enabled?: boolean | null | undefined;
  /** Seconds; absent: the platform's setting. */
  readonly startTimeout?: number | null | undefined;
  /** Seconds; absent: the platform's setting. */
  readonly callTimeout?: number | null | undefined;
};

export type McpServerPatch = {
  readonly name?: string | null | undefined;
  readonly launch?: LaunchInput | null | undefined;
  /** An empty text moves it back to the platform's own. */
  readonly runtime?: string | null | undefined;
  readonly enabled?: boolean | null | undefined;
  /** 0: the platform's setting. */
  readonly startTimeout?: number | null | undefined;
  /** 0: the platform's setting. */
  readonly callTimeout?: number | null | undefined;
  readonly ifVersion?: number | null | undefined;
};

/** Either command (with args, cwd, env) or url (with headers). */
export type LaunchInput = {
  readonly command?: string | null | undefined;
  readonly args?: ReadonlyArray<string> | null | undefined;
  readonly cwd?: string | null | undefined;
  readonly env?: ReadonlyArray<Setting> | null | undefined;
  readonly url?: string | null | undefined;
  readonly headers?: ReadonlyArray<Setting> | null | undefined;
  /** Settings that people fill in. Null keeps those of the MCP server. */
  readonly settings?: ReadonlyArray<SettingDeclaration> | null | undefined;
};

/** Says what a variable of env, or a header of headers, is for. */
export type SettingDeclaration = {
  readonly name: string;
  readonly title?: string | null | undefined;
  readonly description?: string | null | undefined;
  /** Absent: true. */
  readonly secret?: boolean | null | undefined;
  /** Absent: true. Without a value, the MCP server is not started. */
  readonly required?: boolean | null | undefined;
};

export type Setting = {
  readonly name: string;
  /** Null keeps the stored value of the MCP server. */
  readonly value?: string | null | undefined;
  /** Whether the value is never shown. Absent: as stored if the value is kept, else true. */
  readonly secret?: boolean | null | undefined;
};

export type KeyInput = {
  readonly name: string;
  readonly roles?: ReadonlyArray<string> | null | undefined;
  readonly disclosure?: KeyDisclosure | null | undefined;
  readonly expiresAt?: number | null | undefined;
};

export type KeyPatch = {
  readonly name?: string | null | undefined;
  readonly roles?: ReadonlyArray<string> | null | undefined;
  /** true: every role of the workspace, instead of roles. */
  readonly allRoles?: boolean | null | undefined;
  readonly disclosure?: KeyDisclosure | null | undefined;
  readonly expiresAt?: number | null | undefined;
  /** true: no expiry, instead of expiresAt. */
  readonly neverExpires?: boolean | null | undefined;
  readonly ifVersion?: number | null | undefined;
};

export type ChangesSubscriptionVariables = Exact<{
  workspace?: string | null | undefined;
}>;


export type ChangesSubscription = { readonly changes: { readonly kind: ChangeKind, readonly revision: number | null, readonly statusRevision: number | null } };

export type ViewerQueryVariables = Exact<{ [key: string]: never; }>;


export type ViewerQuery = { readonly viewer: { readonly id: string, readonly kind: string, readonly name: string, readonly memberships: ReadonlyArray<{ readonly id: string, readonly role: string, readonly workspace: { readonly id: string, readonly name: string, readonly suspended: boolean } }> } };

export type OpenedWorkspaceQueryVariables = Exact<{
  workspace?: string | null | undefined;
}>;


export type OpenedWorkspaceQuery = { readonly workspace: { readonly id: string } | null };

export type FoundQueryVariables = Exact<{
  workspace?: string | null | undefined;
  search: string;
  mayConfigure: boolean;
}>;


export type FoundQuery = { readonly workspace: { readonly id: string, readonly skill: { readonly id: string, readonly name: string } | null, readonly skills: { readonly nodes: ReadonlyArray<{ readonly id: string, readonly name: string }> }, readonly role: { readonly id: string, readonly name: string } | null, readonly roles: { readonly nodes: ReadonlyArray<{ readonly id: string, readonly name: string }> }, readonly mcpServers: { readonly nodes: ReadonlyArray<{ readonly id: string, readonly name: string, readonly enabled: boolean, readonly integration: { readonly id: string } | null }> }, readonly tools: { readonly nodes: ReadonlyArray<{ readonly id: string, readonly originalName: string, readonly mcpServer: { readonly id: string, readonly name: string } }> }, readonly runtimes: { readonly nodes: ReadonlyArray<{ readonly id: string, readonly name: string }> }, readonly ownKeys: ReadonlyArray<{ readonly id: string, readonly name: string, readonly client: string | null }>, readonly members?: { readonly nodes: ReadonlyArray<{ readonly id: string, readonly person: { readonly id: string, readonly name: string, readonly email: string } }> } } | null };

export type RestartableMcpServersQueryVariables = Exact<{
  workspace?: string | null | undefined;
  search: string;
}>;


export type RestartableMcpServersQuery = { readonly workspace: { readonly id: string, readonly mcpServers: { readonly nodes: ReadonlyArray<{ readonly id: string, readonly name: string, readonly enabled: boolean }> } } | null };

export type ProblemFragment = { readonly code: string, readonly message: string, readonly repair: string };

export type AttentionQueryVariables = Exact<{
  workspace?: string | null | undefined;
}>;


export type AttentionQuery = { readonly workspace: { readonly id: string, readonly mcpServers: { readonly nodes: ReadonlyArray<{ readonly id: string, readonly name: string, readonly status: McpServerStatus, readonly reason: ProblemFragment | null, readonly integration: { readonly id: string } | null }>, readonly pageInfo: { readonly next: string | null } }, readonly integrations: { readonly nodes: ReadonlyArray<{ readonly id: string, readonly problem: ProblemFragment | null, readonly mcpServer: { readonly id: string, readonly name: string } | null }>, readonly pageInfo: { readonly next: string | null } }, readonly runtimes: { readonly nodes: ReadonlyArray<{ readonly id: string, readonly name: string, readonly available: boolean }> }, readonly ownKeys: ReadonlyArray<{ readonly id: string, readonly name: string, readonly client: string | null, readonly state: KeyState, readonly expiresAt: number | null, readonly replaces: { readonly id: string } | null }> } | null };

export type BeginningQueryVariables = Exact<{
  workspace?: string | null | undefined;
}>;


export type BeginningQuery = { readonly workspace: { readonly id: string, readonly usage: { readonly nodes: ReadonlyArray<{ readonly hour: number }> }, readonly mcpServers: { readonly nodes: ReadonlyArray<{ readonly id: string }> }, readonly skills: { readonly nodes: ReadonlyArray<{ readonly id: string }> }, readonly roles: { readonly nodes: ReadonlyArray<{ readonly id: string, readonly skills: ReadonlyArray<{ readonly id: string }> }> }, readonly ownKeys: ReadonlyArray<{ readonly id: string }> } | null };

export type GeneralQueryVariables = Exact<{
  workspace?: string | null | undefined;
}>;


export type GeneralQuery = { readonly workspace: { readonly id: string, readonly createdAt: number, readonly owner: { readonly id: string, readonly name: string, readonly email: string } | null } | null };

export type OwnersQueryVariables = Exact<{
  workspace?: string | null | undefined;
}>;


export type OwnersQuery = { readonly workspace: { readonly id: string, readonly members: { readonly nodes: ReadonlyArray<{ readonly id: string, readonly role: MemberRole, readonly suspended: boolean }>, readonly pageInfo: { readonly next: string | null } } } | null };

export type CreateWorkspaceMutationVariables = Exact<{
  input: CreateWorkspaceInput;
}>;


export type CreateWorkspaceMutation = { readonly createWorkspace: { readonly id: string } };

export type RenameWorkspaceMutationVariables = Exact<{
  id: string;
  name: string;
  ifName?: string | null | undefined;
}>;


export type RenameWorkspaceMutation = { readonly updateWorkspace: { readonly id: string, readonly name: string } };

export type MembersQueryVariables = Exact<{
  workspace?: string | null | undefined;
  after?: string | null | undefined;
}>;


export type MembersQuery = { readonly workspace: { readonly id: string, readonly members: { readonly nodes: ReadonlyArray<{ readonly id: string, readonly role: MemberRole, readonly suspended: boolean, readonly version: number, readonly createdAt: number, readonly lastSignedInAt: number | null, readonly person: { readonly id: string, readonly email: string, readonly name: string }, readonly keys: ReadonlyArray<{ readonly id: string, readonly name: string, readonly client: string | null, readonly state: KeyState, readonly lastUsedAt: number | null }> }>, readonly pageInfo: { readonly next: string | null } } } | null };

export type InvitationsQueryVariables = Exact<{
  workspace?: string | null | undefined;
  after?: string | null | undefined;
}>;


export type InvitationsQuery = { readonly workspace: { readonly id: string, readonly invitations: { readonly nodes: ReadonlyArray<{ readonly id: string, readonly email: string, readonly role: MemberRole, readonly expiresAt: number, readonly createdAt: number }>, readonly pageInfo: { readonly next: string | null } } } | null };

export type InviteMemberMutationVariables = Exact<{
  workspace: string;
  input: MemberInput;
}>;


export type InviteMemberMutation = { readonly inviteMember: { readonly id: string } };

export type WithdrawInvitationMutationVariables = Exact<{
  workspace: string;
  id: string;
}>;


export type WithdrawInvitationMutation = { readonly withdrawInvitation: boolean };

export type UpdateMemberMutationVariables = Exact<{
  workspace: string;
  id: string;
  input: MemberPatch;
}>;


export type UpdateMemberMutation = { readonly updateMember: { readonly id: string, readonly version: number } };

export type RemoveMemberMutationVariables = Exact<{
  workspace: string;
  id: string;
  ifVersion?: number | null | undefined;
  ifUsedBy?: ReadonlyArray<string> | string | null | undefined;
  keysTo?: string | null | undefined;
}>;


export type RemoveMemberMutation = { readonly removeMember: boolean };

export type SkillsQueryVariables = Exact<{
  workspace?: string | null | undefined;
  after?: string | null | undefined;
  search?: string | null | undefined;
  role?: string | null | undefined;
  available?: boolean | null | undefined;
}>;


export type SkillsQuery = { readonly workspace: { readonly id: string, readonly skills: { readonly nodes: ReadonlyArray<{ readonly id: string, readonly name: string, readonly description: string, readonly available: boolean, readonly toolCount: number, readonly reason: ProblemFragment | null, readonly roles: ReadonlyArray<{ readonly id: string, readonly name: string }> }>, readonly pageInfo: { readonly next: string | null } } } | null };

export type RoleNamesQueryVariables = Exact<{
  workspace?: string | null | undefined;
  after?: string | null | undefined;
}>;


export type RoleNamesQuery = { readonly workspace: { readonly id: string, readonly roles: { readonly nodes: ReadonlyArray<{ readonly id: string, readonly name: string, readonly description: string }>, readonly pageInfo: { readonly next: string | null } } } | null };

export type OwnKeyFragment = { readonly id: string, readonly name: string, readonly hint: string, readonly client: string | null, readonly state: KeyState, readonly version: number, readonly disclosure: KeyDisclosure, readonly expiresAt: number | null, readonly lastUsedAt: number | null, readonly createdAt: number, readonly roles: ReadonlyArray<{ readonly id: string, readonly name: string }> | null, readonly replaces: { readonly id: string, readonly hint: string, readonly lastUsedAt: number | null } | null };

export type SkillQueryVariables = Exact<{
  workspace?: string | null | undefined;
  id?: string | null | undefined;
}>;


export type SkillQuery = { readonly workspace: { readonly id: string, readonly skill: { readonly id: string, readonly name: string, readonly description: string, readonly instructions: string, readonly version: number, readonly available: boolean, readonly toolCount: number, readonly definitionsLength: number, readonly reason: ProblemFragment | null, readonly tools: ReadonlyArray<{ readonly id: string, readonly originalName: string, readonly listed: boolean, readonly mcpServer: { readonly id: string, readonly name: string, readonly status: McpServerStatus } }>, readonly namedTools: ReadonlyArray<{ readonly id: string }>, readonly patterns: ReadonlyArray<{ readonly pattern: string, readonly mcpServer: { readonly id: string, readonly name: string } }>, readonly roles: ReadonlyArray<{ readonly id: string, readonly name: string }>, readonly mcpServers: ReadonlyArray<{ readonly id: string, readonly name: string, readonly enabled: boolean, readonly version: number, readonly status: McpServerStatus, readonly reason: ProblemFragment | null }>, readonly files: ReadonlyArray<{ readonly path: string, readonly digest: string, readonly sizeBytes: number }> } | null } | null };

export type SkillTextsQueryVariables = Exact<{
  workspace?: string | null | undefined;
  id?: string | null | undefined;
}>;


export type SkillTextsQuery = { readonly workspace: { readonly id: string, readonly skill: { readonly id: string, readonly name: string, readonly description: string, readonly instructions: string, readonly version: number } | null } | null };

export type SkillToolsQueryVariables = Exact<{
  workspace?: string | null | undefined;
  id?: string | null | undefined;
}>;


export type SkillToolsQuery = { readonly workspace: { readonly id: string, readonly skill: { readonly id: string, readonly version: number, readonly namedTools: ReadonlyArray<{ readonly id: string, readonly originalName: string, readonly mcpServer: { readonly id: string, readonly name: string } }>, readonly patterns: ReadonlyArray<{ readonly pattern: string, readonly mcpServer: { readonly id: string, readonly name: string } }> } | null } | null };

export type SkillFilesQueryVariables = Exact<{
  workspace?: string | null | undefined;
  id?: string | null | undefined;
}>;


export type SkillFilesQuery = { readonly workspace: { readonly id: string, readonly skill: { readonly id: string, readonly files: ReadonlyArray<{ readonly path: string, readonly url: string }> } | null } | null };

export type SkillCallsQueryVariables = Exact<{
  workspace?: string | null | undefined;
  id?: string | null | undefined;
}>;


export type SkillCallsQuery = { readonly workspace: { readonly id: string, readonly skill: { readonly id: string, readonly week: { readonly calls: number, readonly errors: number, readonly isComplete: boolean }, readonly month: { readonly calls: number, readonly errors: number, readonly isComplete: boolean } } | null } | null };

export type SkillsOfRoleQueryVariables = Exact<{
  workspace?: string | null | undefined;
  id?: string | null | undefined;
}>;


export type SkillsOfRoleQuery = { readonly workspace: { readonly id: string, readonly role: { readonly id: string, readonly name: string, readonly version: number, readonly skills: ReadonlyArray<{ readonly id: string }> } | null } | null };

export type FoundToolsQueryVariables = Exact<{
  workspace?: string | null | undefined;
  search?: string | null | undefined;
}>;


export type FoundToolsQuery = { readonly workspace: { readonly id: string, readonly tools: { readonly nodes: ReadonlyArray<{ readonly id: string, readonly originalName: string, readonly listed: boolean, readonly mcpServer: { readonly id: string, readonly name: string } }>, readonly pageInfo: { readonly next: string | null } } } | null };

export type ToolsOfMcpServerQueryVariables = Exact<{
  workspace?: string | null | undefined;
  id?: string | null | undefined;
  after?: string | null | undefined;
}>;


export type ToolsOfMcpServerQuery = { readonly workspace: { readonly id: string, readonly mcpServer: { readonly id: string, readonly tools: { readonly nodes: ReadonlyArray<{ readonly id: string, readonly name: string | null, readonly originalName: string, readonly description: string | null, readonly listed: boolean }>, readonly pageInfo: { readonly next: string | null } } } | null } | null };

export type ToolsToAddQueryVariables = Exact<{
  workspace?: string | null | undefined;
  name?: string | null | undefined;
}>;


export type ToolsToAddQuery = { readonly workspace: { readonly id: string, readonly mcpServer: { readonly id: string, readonly name: string, readonly tools: { readonly nodes: ReadonlyArray<{ readonly id: string, readonly originalName: string, readonly listed: boolean }>, readonly pageInfo: { readonly next: string | null } } } | null } | null };

export type ToolDefinitionQueryVariables = Exact<{
  workspace?: string | null | undefined;
  tool: string;
}>;


export type ToolDefinitionQuery = { readonly workspace: { readonly id: string, readonly tool: { readonly id: string, readonly definition: string | null } | null } | null };

export type CreateToolTokenMutationVariables = Exact<{
  workspace: string;
}>;


export type CreateToolTokenMutation = { readonly createToolToken: { readonly token: string, readonly expiresAt: number } };

export type CreateSkillMutationVariables = Exact<{
  workspace: string;
  input: SkillInput;
}>;


export type CreateSkillMutation = { readonly createSkill: { readonly id: string } };

export type UpdateSkillMutationVariables = Exact<{
  workspace: string;
  id: string;
  input: SkillPatch;
}>;


export type UpdateSkillMutation = { readonly updateSkill: { readonly id: string, readonly version: number } };

export type RemoveSkillMutationVariables = Exact<{
  workspace: string;
  id: string;
  ifVersion?: number | null | undefined;
  ifUsedBy?: ReadonlyArray<string> | string | null | undefined;
}>;


export type RemoveSkillMutation = { readonly removeSkill: boolean };

export type AddSkillFileMutationVariables = Exact<{
  workspace: string;
  skill: string;
  input: SkillFileInput;
}>;


export type AddSkillFileMutation = { readonly addSkillFile: { readonly url: string } };

export type RemoveSkillFileMutationVariables = Exact<{
  workspace: string;
  skill: string;
  path: string;
  ifDigest?: string | null | undefined;
}>;


export type RemoveSkillFileMutation = { readonly removeSkillFile: boolean };

export type ChangeSkillsOfRoleMutationVariables = Exact<{
  workspace: string;
  id: string;
  skills: ReadonlyArray<string> | string;
  ifVersion?: number | null | undefined;
}>;


export type ChangeSkillsOfRoleMutation = { readonly updateRole: { readonly id: string, readonly version: number } };

export type McpServersQueryVariables = Exact<{
  workspace?: string | null | undefined;
  after?: string | null | undefined;
  search?: string | null | undefined;
}>;


export type McpServersQuery = { readonly workspace: { readonly id: string, readonly mcpServers: { readonly nodes: ReadonlyArray<{ readonly id: string, readonly name: string, readonly kind: McpServerKind, readonly enabled: boolean, readonly version: number, readonly status: McpServerStatus, readonly health: Health, readonly restarts: number, readonly nextRetryAt: number | null, readonly reason: ProblemFragment | null, readonly integration: { readonly id: string } | null, readonly runtimes: ReadonlyArray<{ readonly id: string, readonly name: string }> }>, readonly pageInfo: { readonly next: string | null } } } | null };

export type McpServerQueryVariables = Exact<{
  workspace?: string | null | undefined;
  id?: string | null | undefined;
}>;


export type McpServerQuery = { readonly workspace: { readonly id: string, readonly mcpServer: { readonly id: string, readonly name: string, readonly kind: McpServerKind, readonly enabled: boolean, readonly version: number, readonly status: McpServerStatus, readonly health: Health, readonly restarts: number, readonly lastStartedAt: number | null, readonly nextRetryAt: number | null, readonly startTimeout: number | null, readonly callTimeout: number | null, readonly stderr: ReadonlyArray<string>, readonly sandboxes: ReadonlyArray<string>, readonly homes: ReadonlyArray<string>, readonly reason: ProblemFragment | null, readonly integration: { readonly id: string } | null, readonly launch: { readonly command: string | null, readonly args: ReadonlyArray<string> | null, readonly cwd: string | null, readonly url: string | null, readonly setBy: Author, readonly env: ReadonlyArray<{ readonly name: string, readonly value: string | null }>, readonly headers: ReadonlyArray<{ readonly name: string, readonly value: string | null }>, readonly settings: ReadonlyArray<{ readonly name: string, readonly title: string, readonly description: string, readonly secret: boolean, readonly required: boolean, readonly isSet: boolean }> } | null, readonly skills: ReadonlyArray<{ readonly id: string, readonly name: string }>, readonly runtimes: ReadonlyArray<{ readonly id: string, readonly name: string, readonly platform: boolean, readonly available: boolean }> } | null } | null };

export type CreateMcpServerMutationVariables = Exact<{
  workspace: string;
  input: McpServerInput;
}>;


export type CreateMcpServerMutation = { readonly createMcpServer: { readonly id: string } };

export type UpdateMcpServerMutationVariables = Exact<{
  workspace: string;
  id: string;
  input: McpServerPatch;
}>;


export type UpdateMcpServerMutation = { readonly updateMcpServer: { readonly id: string, readonly version: number } };

export type SetMcpServerLaunchMutationVariables = Exact<{
  workspace: string;
  id: string;
  launch: LaunchInput;
  ifVersion?: number | null | undefined;
}>;


export type SetMcpServerLaunchMutation = { readonly updateMcpServer: { readonly id: string, readonly version: number } };

export type EnableMcpServerMutationVariables = Exact<{
  workspace: string;
  id: string;
  enabled: boolean;
  ifVersion?: number | null | undefined;
}>;


export type EnableMcpServerMutation = { readonly updateMcpServer: { readonly id: string, readonly enabled: boolean } };

export type RestartMcpServerMutationVariables = Exact<{
  workspace: string;
  id: string;
}>;


export type RestartMcpServerMutation = { readonly restartMcpServer: boolean };

export type RemoveMcpServerMutationVariables = Exact<{
  workspace: string;
  id: string;
  ifVersion?: number | null | undefined;
  ifUsedBy?: ReadonlyArray<string> | string | null | undefined;
}>;


export type RemoveMcpServerMutation = { readonly removeMcpServer: boolean };

export type IntegrationsQueryVariables = Exact<{
  workspace?: string | null | undefined;
  after?: string | null | undefined;
}>;


export type IntegrationsQuery = { readonly workspace: { readonly id: string, readonly integrations: { readonly nodes: ReadonlyArray<{ readonly id: string, readonly state: IntegrationState, readonly issuer: string | null, readonly scopes: ReadonlyArray<string>, readonly expiresAt: number | null, readonly problem: ProblemFragment | null, readonly mcpServer: { readonly id: string, readonly name: string } | null }>, readonly pageInfo: { readonly next: string | null } } } | null };

export type IntegrationQueryVariables = Exact<{
  workspace?: string | null | undefined;
  id: string;
}>;


export type IntegrationQuery = { readonly workspace: { readonly id: string, readonly integration: { readonly id: string, readonly state: IntegrationState, readonly issuer: string | null, readonly client: IntegrationClient | null, readonly clientId: string | null, readonly scopes: ReadonlyArray<string>, readonly wantedScopes: ReadonlyArray<string>, readonly expiresAt: number | null, readonly refreshedAt: number | null, readonly connectedAt: number | null, readonly redirectUri: string, readonly problem: ProblemFragment | null, readonly mcpServer: { readonly id: string, readonly name: string } | null } | null } | null };

export type BeginIntegrationMutationVariables = Exact<{
  workspace: string;
  id: string;
}>;


export type BeginIntegrationMutation = { readonly beginIntegration: string };

export type FinishIntegrationMutationVariables = Exact<{
  answer: string;
}>;


export type FinishIntegrationMutation = { readonly finishIntegration: { readonly id: string } };

export type UpdateIntegrationMutationVariables = Exact<{
  workspace: string;
  id: string;
  input: IntegrationPatch;
}>;


export type UpdateIntegrationMutation = { readonly updateIntegration: { readonly id: string } };

export type DisconnectIntegrationMutationVariables = Exact<{
  workspace: string;
  id: string;
}>;


export type DisconnectIntegrationMutation = { readonly disconnectIntegration: { readonly id: string } };

export type RuntimeRowFragment = { readonly id: string, readonly name: string, readonly platform: boolean, readonly available: boolean, readonly lastHeartbeatAt: number | null, readonly versions: ReadonlyArray<string>, readonly sandboxes: ReadonlyArray<string>, readonly runningCalls: number | null };

export type RuntimesQueryVariables = Exact<{
  workspace?: string | null | undefined;
  after?: string | null | undefined;
}>;


export type RuntimesQuery = { readonly workspace: { readonly id: string, readonly runtimes: { readonly nodes: ReadonlyArray<RuntimeRowFragment>, readonly pageInfo: { readonly next: string | null } } } | null };

export type PlatformRuntimesQueryVariables = Exact<{
  workspace?: string | null | undefined;
}>;


export type PlatformRuntimesQuery = { readonly workspace: { readonly id: string, readonly platformRuntimes: ReadonlyArray<RuntimeRowFragment> } | null };

export type RuntimeStatesSubscriptionVariables = Exact<{
  workspace: string;
}>;


export type RuntimeStatesSubscription = { readonly runtimeStates: RuntimeRowFragment };

export type RuntimeBusQueryVariables = Exact<{
  workspace?: string | null | undefined;
}>;


export type RuntimeBusQuery = { readonly workspace: { readonly id: string, readonly busServers: ReadonlyArray<string> } | null };

export type McpServersOnQueryVariables = Exact<{
  workspace?: string | null | undefined;
  runtime?: string | null | undefined;
  after?: string | null | undefined;
}>;


export type McpServersOnQuery = { readonly workspace: { readonly id: string, readonly mcpServers: { readonly nodes: ReadonlyArray<{ readonly id: string, readonly name: string, readonly status: McpServerStatus }>, readonly pageInfo: { readonly next: string | null } } } | null };

export type RegisterRuntimeMutationVariables = Exact<{
  workspace: string;
  name: string;
}>;


export type RegisterRuntimeMutation = { readonly registerRuntime: { readonly secret: string, readonly busServers: ReadonlyArray<string>, readonly authority: string | null, readonly version: string, readonly overlapEndsAt: number | null, readonly runtime: { readonly id: string, readonly name: string } } };

export type RevokeRuntimeMutationVariables = Exact<{
  workspace: string;
  id: string;
  ifUsedBy?: ReadonlyArray<string> | string | null | undefined;
}>;


export type RevokeRuntimeMutation = { readonly revokeRuntime: boolean };

export type RoleRowFragment = { readonly id: string, readonly name: string, readonly description: string, readonly enabled: boolean, readonly version: number, readonly readOnly: boolean, readonly skills: ReadonlyArray<{ readonly id: string }>, readonly rules: ReadonlyArray<{ readonly effect: ToolRuleEffect, readonly tool: string, readonly mcpServer: { readonly id: string, readonly name: string } }> };

export type RolesQueryVariables = Exact<{
  workspace?: string | null | undefined;
  after?: string | null | undefined;
  search?: string | null | undefined;
}>;


export type RolesQuery = { readonly workspace: { readonly id: string, readonly roles: { readonly nodes: ReadonlyArray<RoleRowFragment>, readonly pageInfo: { readonly next: string | null } } } | null };

export type RoleQueryVariables = Exact<{
  workspace?: string | null | undefined;
  id?: string | null | undefined;
}>;


export type RoleQuery = { readonly workspace: { readonly id: string, readonly role: RoleRowFragment | null } | null };

export type KeysOfRoleQueryVariables = Exact<{
  workspace?: string | null | undefined;
  id?: string | null | undefined;
}>;


export type KeysOfRoleQuery = { readonly workspace: { readonly id: string, readonly role: { readonly id: string, readonly keys: ReadonlyArray<{ readonly id: string, readonly name: string, readonly roles: ReadonlyArray<{ readonly id: string }> | null }> } | null } | null };

export type SkillNamesQueryVariables = Exact<{
  workspace?: string | null | undefined;
  after?: string | null | undefined;
  search?: string | null | undefined;
}>;


export type SkillNamesQuery = { readonly workspace: { readonly id: string, readonly skills: { readonly nodes: ReadonlyArray<{ readonly id: string, readonly name: string, readonly description: string }>, readonly pageInfo: { readonly next: string | null } } } | null };

export type FindToolsQueryVariables = Exact<{
  workspace?: string | null | undefined;
  mcpServer?: string | null | undefined;
  tool?: string | null | undefined;
}>;


export type FindToolsQuery = { readonly workspace: { readonly id: string, readonly mcpServers: { readonly nodes: ReadonlyArray<{ readonly id: string, readonly name: string }> }, readonly tools: { readonly nodes: ReadonlyArray<{ readonly id: string, readonly originalName: string, readonly mcpServer: { readonly id: string, readonly name: string } }> } } | null };

export type CreateRoleMutationVariables = Exact<{
  workspace: string;
  input: RoleInput;
}>;


export type CreateRoleMutation = { readonly createRole: { readonly id: string } };

export type UpdateRoleMutationVariables = Exact<{
  workspace: string;
  id: string;
  input: RolePatch;
}>;


export type UpdateRoleMutation = { readonly updateRole: RoleRowFragment };

export type RemoveRoleMutationVariables = Exact<{
  workspace: string;
  id: string;
  ifVersion?: number | null | undefined;
  ifUsedBy?: ReadonlyArray<string> | string | null | undefined;
}>;


export type RemoveRoleMutation = { readonly removeRole: boolean };

export type OwnKeysQueryVariables = Exact<{
  workspace?: string | null | undefined;
}>;


export type OwnKeysQuery = { readonly workspace: { readonly id: string, readonly ownKeys: ReadonlyArray<OwnKeyFragment> } | null };

export type CreateKeyMutationVariables = Exact<{
  workspace: string;
  input: KeyInput;
}>;


export type CreateKeyMutation = { readonly createKey: { readonly secret: string, readonly key: { readonly id: string, readonly name: string } } };

export type UpdateKeyMutationVariables = Exact<{
  workspace: string;
  id: string;
  input: KeyPatch;
}>;


export type UpdateKeyMutation = { readonly updateKey: OwnKeyFragment };

export type RotateKeyMutationVariables = Exact<{
  workspace: string;
  id: string;
}>;


export type RotateKeyMutation = { readonly rotateKey: { readonly secret: string, readonly key: { readonly id: string, readonly name: string } } };

export type RevokeKeyMutationVariables = Exact<{
  workspace: string;
  key: string;
  ifVersion?: number | null | undefined;
}>;


export type RevokeKeyMutation = { readonly revokeKey: { readonly id: string, readonly state: KeyState } };

export type ExplainedSkillsQueryVariables = Exact<{
  workspace?: string | null | undefined;
  after?: string | null | undefined;
}>;


export type ExplainedSkillsQuery = { readonly workspace: { readonly id: string, readonly skills: { readonly nodes: ReadonlyArray<{ readonly id: string, readonly name: string, readonly available: boolean, readonly reason: ProblemFragment | null, readonly tools: ReadonlyArray<{ readonly id: string }> }>, readonly pageInfo: { readonly next: string | null } } } | null };

export type ExplainedToolsQueryVariables = Exact<{
  workspace?: string | null | undefined;
  after?: string | null | undefined;
}>;


export type ExplainedToolsQuery = { readonly workspace: { readonly id: string, readonly tools: { readonly nodes: ReadonlyArray<{ readonly id: string, readonly name: string | null, readonly originalName: string, readonly listed: boolean, readonly readOnly: boolean, readonly mcpServer: { readonly id: string, readonly name: string } }>, readonly pageInfo: { readonly next: string | null } } } | null };

export type ShareFragment = { readonly id: string | null, readonly name: string | null, readonly calls: number, readonly errors: number, readonly durationMs: number };

export type UsageQueryVariables = Exact<{
  workspace?: string | null | undefined;
  from: number;
  to: number;
}>;


export type UsageQuery = { readonly workspace: { readonly id: string, readonly usageSummary: { readonly calls: number, readonly errors: number, readonly durationMs: number, readonly isComplete: boolean, readonly hours: ReadonlyArray<{ readonly hour: number, readonly calls: number, readonly errors: number }>, readonly slowest: ReadonlyArray<ShareFragment>, readonly failing: ReadonlyArray<ShareFragment>, readonly byKey: ReadonlyArray<ShareFragment>, readonly bySkill: ReadonlyArray<ShareFragment> } } | null };

export type ActivityQueryVariables = Exact<{
  workspace?: string | null | undefined;
  after?: string | null | undefined;
  search?: string | null | undefined;
}>;


export type ActivityQuery = { readonly workspace: { readonly id: string, readonly activity: { readonly nodes: ReadonlyArray<{ readonly id: string, readonly at: number, readonly actor: string, readonly actorName: string, readonly action: string, readonly subject: string, readonly subjectKind: string, readonly subjectName: string, readonly changes: string }>, readonly pageInfo: { readonly next: string | null } } } | null };

export type AccountQueryVariables = Exact<{ [key: string]: never; }>;


export type AccountQuery = { readonly viewer: { readonly id: string, readonly name: string, readonly email: string | null, readonly hasPassword: boolean, readonly hasWayToSignIn: boolean, readonly passkeys: ReadonlyArray<{ readonly id: string, readonly name: string, readonly lastUsedAt: number | null }>, readonly sessions: ReadonlyArray<{ readonly id: string, readonly device: string, readonly lastUsedAt: number, readonly isCurrent: boolean }> } };

export type ChangeNameMutationVariables = Exact<{
  name: string;
}>;


export type ChangeNameMutation = { readonly changeName: { readonly id: string } };

export type SendAddressLinkMutationVariables = Exact<{
  email: string;
}>;


export type SendAddressLinkMutation = { readonly sendAddressLink: boolean };

export type SetPasswordMutationVariables = Exact<{
  current?: string | null | undefined;
  password: string;
}>;


export type SetPasswordMutation = { readonly setPassword: { readonly id: string } };

export type BeginPasskeyMutationVariables = Exact<{ [key: string]: never; }>;


export type BeginPasskeyMutation = { readonly beginPasskey: { readonly options: string, readonly ticket: string } };

export type AddPasskeyMutationVariables = Exact<{
  ticket: string;
  response: string;
  name: string;
}>;


export type AddPasskeyMutation = { readonly addPasskey: { readonly id: string } };

export type RenamePasskeyMutationVariables = Exact<{
  id: string;
  name: string;
}>;


export type RenamePasskeyMutation = { readonly renamePasskey: { readonly id: string } };

export type RemovePasskeyMutationVariables = Exact<{
  id: string;
}>;


export type RemovePasskeyMutation = { readonly removePasskey: { readonly id: string } };

export type EndSessionMutationVariables = Exact<{
  id: string;
}>;


export type EndSessionMutation = { readonly endSession: boolean };

export type EndOtherSessionsMutationVariables = Exact<{ [key: string]: never; }>;


export type EndOtherSessionsMutation = { readonly endOtherSessions: { readonly id: string } };

export const changesSubscription: Operation<ChangesSubscription, ChangesSubscriptionVariables> = {
  text: "subscription Changes($workspace:ID){changes(workspace:$workspace){kind revision statusRevision}}",
};

export const viewerQuery: Operation<ViewerQuery, ViewerQueryVariables> = {
  text: "query Viewer{viewer{id kind name memberships{id role workspace{id name suspended}}}}",
};

export const openedWorkspaceQuery: Operation<OpenedWorkspaceQuery, OpenedWorkspaceQueryVariables> = {
  text: "query OpenedWorkspace($workspace:ID){workspace(id:$workspace){id}}",
};

export const foundQuery: Operation<FoundQuery, FoundQueryVariables> = {
  text: "query Found($workspace:ID$search:String!$mayConfigure:Boolean!){workspace(id:$workspace){id skill(name:$search){id name}skills(first:8 search:$search){nodes{id name}}role(name:$search){id name}roles(first:8 search:$search){nodes{id name}}mcpServers(first:8 search:$search){nodes{id name enabled integration{id}}}tools(first:8 search:$search){nodes{id originalName mcpServer{id name}}}runtimes(first:8 search:$search){nodes{id name}}ownKeys(first:8 search:$search){id name client}members(first:8 search:$search)@include(if:$mayConfigure){nodes{id person{id name email}}}}}",
};

export const restartableMcpServersQuery: Operation<RestartableMcpServersQuery, RestartableMcpServersQueryVariables> = {
  text: "query RestartableMcpServers($workspace:ID$search:String!){workspace(id:$workspace){id mcpServers(first:20 search:$search){nodes{id name enabled}}}}",
};

export const attentionQuery: Operation<AttentionQuery, AttentionQueryVariables> = {
  text: "query Attention($workspace:ID){workspace(id:$workspace){id mcpServers(first:100 failing:true){nodes{id name status reason{...Problem}integration{id}}pageInfo{next}}integrations(first:100 state:expired){nodes{id problem{...Problem}mcpServer{id name}}pageInfo{next}}runtimes(first:100){nodes{id name available}}ownKeys(first:100){id name client state expiresAt replaces{id}}}}fragment Problem on Reason{code message repair}",
};

export const beginningQuery: Operation<BeginningQuery, BeginningQueryVariables> = {
  text: "query Beginning($workspace:ID){workspace(id:$workspace){id usage(first:1){nodes{hour}}mcpServers(first:1){nodes{id}}skills(first:1){nodes{id}}roles(first:100){nodes{id skills(first:1){id}}}ownKeys(first:1){id}}}",
};

export const generalQuery: Operation<GeneralQuery, GeneralQueryVariables> = {
  text: "query General($workspace:ID){workspace(id:$workspace){id createdAt owner{id name email}}}",
};

export const ownersQuery: Operation<OwnersQuery, OwnersQueryVariables> = {
  text: "query Owners($workspace:ID){workspace(id:$workspace){id members(first:100){nodes{id role suspended}pageInfo{next}}}}",
};

export const createWorkspaceMutation: Operation<CreateWorkspaceMutation, CreateWorkspaceMutationVariables> = {
  text: "mutation CreateWorkspace($input:CreateWorkspaceInput!){createWorkspace(input:$input){id}}",
};

export const renameWorkspaceMutation: Operation<RenameWorkspaceMutation, RenameWorkspaceMutationVariables> = {
  text: "mutation RenameWorkspace($id:ID!$name:String!$ifName:String){updateWorkspace(id:$id input:{name:$name ifName:$ifName}){id name}}",
};

export const membersQuery: Operation<MembersQuery, MembersQueryVariables> = {
  text: "query Members($workspace:ID$after:String){workspace(id:$workspace){id members(first:100 after:$after){nodes{id role suspended version createdAt lastSignedInAt person{id email name}keys(first:100){id name client state lastUsedAt}}pageInfo{next}}}}",
};

export const invitationsQuery: Operation<InvitationsQuery, InvitationsQueryVariables> = {
  text: "query Invitations($workspace:ID$after:String){workspace(id:$workspace){id invitations(first:100 after:$after){nodes{id email role expiresAt createdAt}pageInfo{next}}}}",
};

export const inviteMemberMutation: Operation<InviteMemberMutation, InviteMemberMutationVariables> = {
  text: "mutation InviteMember($workspace:ID!$input:MemberInput!){inviteMember(workspace:$workspace input:$input){id}}",
};

export const withdrawInvitationMutation: Operation<WithdrawInvitationMutation, WithdrawInvitationMutationVariables> = {
  text: "mutation WithdrawInvitation($workspace:ID!$id:ID!){withdrawInvitation(workspace:$workspace id:$id)}",
};

export const updateMemberMutation: Operation<UpdateMemberMutation, UpdateMemberMutationVariables> = {
  text: "mutation UpdateMember($workspace:ID!$id:ID!$input:MemberPatch!){updateMember(workspace:$workspace id:$id input:$input){id version}}",
};

export const removeMemberMutation: Operation<RemoveMemberMutation, RemoveMemberMutationVariables> = {
  text: "mutation RemoveMember($workspace:ID!$id:ID!$ifVersion:Int$ifUsedBy:[ID!]$keysTo:ID){removeMember(workspace:$workspace id:$id ifVersion:$ifVersion ifUsedBy:$ifUsedBy keysTo:$keysTo)}",
};

export const skillsQuery: Operation<SkillsQuery, SkillsQueryVariables> = {
  text: "query Skills($workspace:ID$after:String$search:String$role:ID$available:Boolean){workspace(id:$workspace){id skills(first:100 after:$after search:$search role:$role available:$available){nodes{id name description available reason{...Problem}toolCount roles(first:20){id name}}pageInfo{next}}}}fragment Problem on Reason{code message repair}",
};

export const roleNamesQuery: Operation<RoleNamesQuery, RoleNamesQueryVariables> = {
  text: "query RoleNames($workspace:ID$after:String){workspace(id:$workspace){id roles(first:100 after:$after){nodes{id name description}pageInfo{next}}}}",
};

export const skillQuery: Operation<SkillQuery, SkillQueryVariables> = {
  text: "query Skill($workspace:ID$id:ID){workspace(id:$workspace){id skill(id:$id){id name description instructions version available reason{...Problem}toolCount definitionsLength tools(first:1000){id originalName listed mcpServer{id name status}}namedTools(first:1000){id}patterns(first:32){pattern mcpServer{id name}}roles(first:1000){id name}mcpServers(first:100){id name enabled version status reason{...Problem}}files(first:512){path digest sizeBytes}}}}fragment Problem on Reason{code message repair}",
};

export const skillTextsQuery: Operation<SkillTextsQuery, SkillTextsQueryVariables> = {
  text: "query SkillTexts($workspace:ID$id:ID){workspace(id:$workspace){id skill(id:$id){id name description instructions version}}}",
};

export const skillToolsQuery: Operation<SkillToolsQuery, SkillToolsQueryVariables> = {
  text: "query SkillTools($workspace:ID$id:ID){workspace(id:$workspace){id skill(id:$id){id version namedTools(first:1000){id originalName mcpServer{id name}}patterns(first:32){pattern mcpServer{id name}}}}}",
};

export const skillFilesQuery: Operation<SkillFilesQuery, SkillFilesQueryVariables> = {
  text: "query SkillFiles($workspace:ID$id:ID){workspace(id:$workspace){id skill(id:$id){id files(first:512){path url}}}}",
};

export const skillCallsQuery: Operation<SkillCallsQuery, SkillCallsQueryVariables> = {
  text: "query SkillCalls($workspace:ID$id:ID){workspace(id:$workspace){id skill(id:$id){id week:usage(days:7){calls errors isComplete}month:usage(days:30){calls errors isComplete}}}}",
};

export const skillsOfRoleQuery: Operation<SkillsOfRoleQuery, SkillsOfRoleQueryVariables> = {
  text: "query SkillsOfRole($workspace:ID$id:ID){workspace(id:$workspace){id role(id:$id){id name version skills(first:1000){id}}}}",
};

export const foundToolsQuery: Operation<FoundToolsQuery, FoundToolsQueryVariables> = {
  text: "query FoundTools($workspace:ID$search:String){workspace(id:$workspace){id tools(first:50 search:$search){nodes{id originalName listed mcpServer{id name}}pageInfo{next}}}}",
};

export const toolsOfMcpServerQuery: Operation<ToolsOfMcpServerQuery, ToolsOfMcpServerQueryVariables> = {
  text: "query ToolsOfMcpServer($workspace:ID$id:ID$after:String){workspace(id:$workspace){id mcpServer(id:$id){id tools(first:100 after:$after){nodes{id name originalName description listed}pageInfo{next}}}}}",
};

export const toolsToAddQuery: Operation<ToolsToAddQuery, ToolsToAddQueryVariables> = {
  text: "query ToolsToAdd($workspace:ID$name:String){workspace(id:$workspace){id mcpServer(name:$name){id name tools(first:100){nodes{id originalName listed}pageInfo{next}}}}}",
};

export const toolDefinitionQuery: Operation<ToolDefinitionQuery, ToolDefinitionQueryVariables> = {
  text: "query ToolDefinition($workspace:ID$tool:ID!){workspace(id:$workspace){id tool(id:$tool){id definition}}}",
};

export const createToolTokenMutation: Operation<CreateToolTokenMutation, CreateToolTokenMutationVariables> = {
  text: "mutation CreateToolToken($workspace:ID!){createToolToken(workspace:$workspace){token expiresAt}}",
};

export const createSkillMutation: Operation<CreateSkillMutation, CreateSkillMutationVariables> = {
  text: "mutation CreateSkill($workspace:ID!$input:SkillInput!){createSkill(workspace:$workspace input:$input){id}}",
};

export const updateSkillMutation: Operation<UpdateSkillMutation, UpdateSkillMutationVariables> = {
  text: "mutation UpdateSkill($workspace:ID!$id:ID!$input:SkillPatch!){updateSkill(workspace:$workspace id:$id input:$input){id version}}",
};

export const removeSkillMutation: Operation<RemoveSkillMutation, RemoveSkillMutationVariables> = {
  text: "mutation RemoveSkill($workspace:ID!$id:ID!$ifVersion:Int$ifUsedBy:[ID!]){removeSkill(workspace:$workspace id:$id ifVersion:$ifVersion ifUsedBy:$ifUsedBy)}",
};

export const addSkillFileMutation: Operation<AddSkillFileMutation, AddSkillFileMutationVariables> = {
  text: "mutation AddSkillFile($workspace:ID!$skill:ID!$input:SkillFileInput!){addSkillFile(workspace:$workspace skill:$skill input:$input){url}}",
};

export const removeSkillFileMutation: Operation<RemoveSkillFileMutation, RemoveSkillFileMutationVariables> = {
  text: "mutation RemoveSkillFile($workspace:ID!$skill:ID!$path:String!$ifDigest:String){removeSkillFile(workspace:$workspace skill:$skill path:$path ifDigest:$ifDigest)}",
};

export const changeSkillsOfRoleMutation: Operation<ChangeSkillsOfRoleMutation, ChangeSkillsOfRoleMutationVariables> = {
  text: "mutation ChangeSkillsOfRole($workspace:ID!$id:ID!$skills:[ID!]!$ifVersion:Int){updateRole(workspace:$workspace id:$id input:{skills:$skills ifVersion:$ifVersion}){id version}}",
};

export const mcpServersQuery: Operation<McpServersQuery, McpServersQueryVariables> = {
  text: "query McpServers($workspace:ID$after:String$search:String){workspace(id:$workspace){id mcpServers(first:100 after:$after search:$search){nodes{id name kind enabled version status health restarts nextRetryAt reason{...Problem}integration{id}runtimes(first:3){id name}}pageInfo{next}}}}fragment Problem on Reason{code message repair}",
};

export const mcpServerQuery: Operation<McpServerQuery, McpServerQueryVariables> = {
  text: "query McpServer($workspace:ID$id:ID){workspace(id:$workspace){id mcpServer(id:$id){id name kind enabled version status health restarts lastStartedAt nextRetryAt startTimeout callTimeout reason{...Problem}integration{id}stderr sandboxes homes launch{command args cwd url env{name value}headers{name value}settings{name title description secret required isSet}setBy}skills(first:100){id name}runtimes(first:10){id name platform available}}}}fragment Problem on Reason{code message repair}",
};

export const createMcpServerMutation: Operation<CreateMcpServerMutation, CreateMcpServerMutationVariables> = {
  text: "mutation CreateMcpServer($workspace:ID!$input:McpServerInput!){createMcpServer(workspace:$workspace input:$input){id}}",
};

export const updateMcpServerMutation: Operation<UpdateMcpServerMutation, UpdateMcpServerMutationVariables> = {
  text: "mutation UpdateMcpServer($workspace:ID!$id:ID!$input:McpServerPatch!){updateMcpServer(workspace:$workspace id:$id input:$input){id version}}",
};

export const setMcpServerLaunchMutation: Operation<SetMcpServerLaunchMutation, SetMcpServerLaunchMutationVariables> = {
  text: "mutation SetMcpServerLaunch($workspace:ID!$id:ID!$launch:LaunchInput!$ifVersion:Int){updateMcpServer(workspace:$workspace id:$id input:{launch:$launch ifVersion:$ifVersion}){id version}}",
};

export const enableMcpServerMutation: Operation<EnableMcpServerMutation, EnableMcpServerMutationVariables> = {
  text: "mutation EnableMcpServer($workspace:ID!$id:ID!$enabled:Boolean!$ifVersion:Int){updateMcpServer(workspace:$workspace id:$id input:{enabled:$enabled ifVersion:$ifVersion}){id enabled}}",
};

export const restartMcpServerMutation: Operation<RestartMcpServerMutation, RestartMcpServerMutationVariables> = {
  text: "mutation RestartMcpServer($workspace:ID!$id:ID!){restartMcpServer(workspace:$workspace id:$id)}",
};

export const removeMcpServerMutation: Operation<RemoveMcpServerMutation, RemoveMcpServerMutationVariables> = {
  text: "mutation RemoveMcpServer($workspace:ID!$id:ID!$ifVersion:Int$ifUsedBy:[ID!]){removeMcpServer(workspace:$workspace id:$id ifVersion:$ifVersion ifUsedBy:$ifUsedBy)}",
};

export const integrationsQuery: Operation<IntegrationsQuery, IntegrationsQueryVariables> = {
  text: "query Integrations($workspace:ID$after:String){workspace(id:$workspace){id integrations(first:100 after:$after){nodes{id state issuer scopes expiresAt problem{...Problem}mcpServer{id name}}pageInfo{next}}}}fragment Problem on Reason{code message repair}",
};

export const integrationQuery: Operation<IntegrationQuery, IntegrationQueryVariables> = {
  text: "query Integration($workspace:ID$id:ID!){workspace(id:$workspace){id integration(id:$id){id state issuer client clientId scopes wantedScopes expiresAt refreshedAt connectedAt redirectUri problem{...Problem}mcpServer{id name}}}}fragment Problem on Reason{code message repair}",
};

export const beginIntegrationMutation: Operation<BeginIntegrationMutation, BeginIntegrationMutationVariables> = {
  text: "mutation BeginIntegration($workspace:ID!$id:ID!){beginIntegration(workspace:$workspace id:$id)}",
};

export const finishIntegrationMutation: Operation<FinishIntegrationMutation, FinishIntegrationMutationVariables> = {
  text: "mutation FinishIntegration($answer:String!){finishIntegration(answer:$answer){id}}",
};

export const updateIntegrationMutation: Operation<UpdateIntegrationMutation, UpdateIntegrationMutationVariables> = {
  text: "mutation UpdateIntegration($workspace:ID!$id:ID!$input:IntegrationPatch!){updateIntegration(workspace:$workspace id:$id input:$input){id}}",
};

export const disconnectIntegrationMutation: Operation<DisconnectIntegrationMutation, DisconnectIntegrationMutationVariables> = {
  text: "mutation DisconnectIntegration($workspace:ID!$id:ID!){disconnectIntegration(workspace:$workspace id:$id){id}}",
};

export const runtimesQuery: Operation<RuntimesQuery, RuntimesQueryVariables> = {
  text: "query Runtimes($workspace:ID$after:String){workspace(id:$workspace){id runtimes(first:100 after:$after){nodes{...RuntimeRow}pageInfo{next}}}}fragment RuntimeRow on Runtime{id name platform available lastHeartbeatAt versions sandboxes runningCalls}",
};

export const platformRuntimesQuery: Operation<PlatformRuntimesQuery, PlatformRuntimesQueryVariables> = {
  text: "query PlatformRuntimes($workspace:ID){workspace(id:$workspace){id platformRuntimes(first:100){...RuntimeRow}}}fragment RuntimeRow on Runtime{id name platform available lastHeartbeatAt versions sandboxes runningCalls}",
};

export const runtimeStatesSubscription: Operation<RuntimeStatesSubscription, RuntimeStatesSubscriptionVariables> = {
  text: "subscription RuntimeStates($workspace:ID!){runtimeStates(workspace:$workspace){...RuntimeRow}}fragment RuntimeRow on Runtime{id name platform available lastHeartbeatAt versions sandboxes runningCalls}",
};

export const runtimeBusQuery: Operation<RuntimeBusQuery, RuntimeBusQueryVariables> = {
  text: "query RuntimeBus($workspace:ID){workspace(id:$workspace){id busServers}}",
};

export const mcpServersOnQuery: Operation<McpServersOnQuery, McpServersOnQueryVariables> = {
  text: "query McpServersOn($workspace:ID$runtime:ID$after:String){workspace(id:$workspace){id mcpServers(first:100 after:$after runtime:$runtime){nodes{id name status}pageInfo{next}}}}",
};

export const registerRuntimeMutation: Operation<RegisterRuntimeMutation, RegisterRuntimeMutationVariables> = {
  text: "mutation RegisterRuntime($workspace:ID!$name:String!){registerRuntime(workspace:$workspace name:$name){runtime{id name}secret busServers authority version overlapEndsAt}}",
};

export const revokeRuntimeMutation: Operation<RevokeRuntimeMutation, RevokeRuntimeMutationVariables> = {
  text: "mutation RevokeRuntime($workspace:ID!$id:ID!$ifUsedBy:[ID!]){revokeRuntime(workspace:$workspace id:$id ifUsedBy:$ifUsedBy)}",
};

export const rolesQuery: Operation<RolesQuery, RolesQueryVariables> = {
  text: "query Roles($workspace:ID$after:String$search:String){workspace(id:$workspace){id roles(first:25 after:$after search:$search){nodes{...RoleRow}pageInfo{next}}}}fragment RoleRow on Role{id name description enabled version readOnly skills(first:1000){id}rules(first:100){effect tool mcpServer{id name}}}",
};

export const roleQuery: Operation<RoleQuery, RoleQueryVariables> = {
  text: "query Role($workspace:ID$id:ID){workspace(id:$workspace){id role(id:$id){...RoleRow}}}fragment RoleRow on Role{id name description enabled version readOnly skills(first:1000){id}rules(first:100){effect tool mcpServer{id name}}}",
};

export const keysOfRoleQuery: Operation<KeysOfRoleQuery, KeysOfRoleQueryVariables> = {
  text: "query KeysOfRole($workspace:ID$id:ID){workspace(id:$workspace){id role(id:$id){id keys(first:1000){id name roles(first:2){id}}}}}",
};

export const skillNamesQuery: Operation<SkillNamesQuery, SkillNamesQueryVariables> = {
  text: "query SkillNames($workspace:ID$after:String$search:String){workspace(id:$workspace){id skills(first:100 after:$after search:$search){nodes{id name description}pageInfo{next}}}}",
};

export const findToolsQuery: Operation<FindToolsQuery, FindToolsQueryVariables> = {
  text: "query FindTools($workspace:ID$mcpServer:String$tool:String){workspace(id:$workspace){id mcpServers(first:5 search:$mcpServer){nodes{id name}}tools(first:50 search:$tool){nodes{id originalName mcpServer{id name}}}}}",
};

export const createRoleMutation: Operation<CreateRoleMutation, CreateRoleMutationVariables> = {
  text: "mutation CreateRole($workspace:ID!$input:RoleInput!){createRole(workspace:$workspace input:$input){id}}",
};

export const updateRoleMutation: Operation<UpdateRoleMutation, UpdateRoleMutationVariables> = {
  text: "mutation UpdateRole($workspace:ID!$id:ID!$input:RolePatch!){updateRole(workspace:$workspace id:$id input:$input){...RoleRow}}fragment RoleRow on Role{id name description enabled version readOnly skills(first:1000){id}rules(first:100){effect tool mcpServer{id name}}}",
};

export const removeRoleMutation: Operation<RemoveRoleMutation, RemoveRoleMutationVariables> = {
  text: "mutation RemoveRole($workspace:ID!$id:ID!$ifVersion:Int$ifUsedBy:[ID!]){removeRole(workspace:$workspace id:$id ifVersion:$ifVersion ifUsedBy:$ifUsedBy)}",
};

export const ownKeysQuery: Operation<OwnKeysQuery, OwnKeysQueryVariables> = {
  text: "query OwnKeys($workspace:ID){workspace(id:$workspace){id ownKeys(first:100){...OwnKey}}}fragment OwnKey on Key{id name hint client state version disclosure expiresAt lastUsedAt createdAt roles(first:100){id name}replaces{id hint lastUsedAt}}",
};

export const createKeyMutation: Operation<CreateKeyMutation, CreateKeyMutationVariables> = {
  text: "mutation CreateKey($workspace:ID!$input:KeyInput!){createKey(workspace:$workspace input:$input){secret key{id name}}}",
};

export const updateKeyMutation: Operation<UpdateKeyMutation, UpdateKeyMutationVariables> = {
  text: "mutation UpdateKey($workspace:ID!$id:ID!$input:KeyPatch!){updateKey(workspace:$workspace id:$id input:$input){...OwnKey}}fragment OwnKey on Key{id name hint client state version disclosure expiresAt lastUsedAt createdAt roles(first:100){id name}replaces{id hint lastUsedAt}}",
};

export const rotateKeyMutation: Operation<RotateKeyMutation, RotateKeyMutationVariables> = {
  text: "mutation RotateKey($workspace:ID!$id:ID!){rotateKey(workspace:$workspace id:$id){secret key{id name}}}",
};

export const revokeKeyMutation: Operation<RevokeKeyMutation, RevokeKeyMutationVariables> = {
  text: "mutation RevokeKey($workspace:ID!$key:String!$ifVersion:Int){revokeKey(workspace:$workspace key:$key ifVersion:$ifVersion){id state}}",
};

export const explainedSkillsQuery: Operation<ExplainedSkillsQuery, ExplainedSkillsQueryVariables> = {
  text: "query ExplainedSkills($workspace:ID$after:String){workspace(id:$workspace){id skills(first:50 after:$after){nodes{id name available reason{...Problem}tools(first:1000){id}}pageInfo{next}}}}fragment Problem on Reason{code message repair}",
};

export const explainedToolsQuery: Operation<ExplainedToolsQuery, ExplainedToolsQueryVariables> = {
  text: "query ExplainedTools($workspace:ID$after:String){workspace(id:$workspace){id tools(first:100 after:$after){nodes{id name originalName listed readOnly mcpServer{id name}}pageInfo{next}}}}",
};

export const usageQuery: Operation<UsageQuery, UsageQueryVariables> = {
  text: "query Usage($workspace:ID$from:Float!$to:Float!){workspace(id:$workspace){id usageSummary(from:$from to:$to){calls errors durationMs isComplete hours{hour calls errors}slowest:largest(by:tool order:averageMs){...Share}failing:largest(by:tool order:errors){...Share}byKey:largest(by:key order:calls){...Share}bySkill:largest(by:skill order:calls){...Share}}}}fragment Share on UsageShare{id name calls errors durationMs}",
};

export const activityQuery: Operation<ActivityQuery, ActivityQueryVariables> = {
  text: "query Activity($workspace:ID$after:String$search:String){workspace(id:$workspace){id activity(first:100 after:$after search:$search){nodes{id at actor actorName action subject subjectKind subjectName changes}pageInfo{next}}}}",
};

export const accountQuery: Operation<AccountQuery, AccountQueryVariables> = {
  text: "query Account{viewer{id name email hasPassword hasWayToSignIn passkeys(first:20){id name lastUsedAt}sessions(first:50){id device lastUsedAt isCurrent}}}",
};

export const changeNameMutation: Operation<ChangeNameMutation, ChangeNameMutationVariables> = {
  text: "mutation ChangeName($name:String!){changeName(name:$name){id}}",
};

export const sendAddressLinkMutation: Operation<SendAddressLinkMutation, SendAddressLinkMutationVariables> = {
  text: "mutation SendAddressLink($email:String!){sendAddressLink(email:$email)}",
};

export const setPasswordMutation: Operation<SetPasswordMutation, SetPasswordMutationVariables> = {
  text: "mutation SetPassword($current:String$password:String!){setPassword(current:$current password:$password){id}}",
};

export const beginPasskeyMutation: Operation<BeginPasskeyMutation, BeginPasskeyMutationVariables> = {
  text: "mutation BeginPasskey{beginPasskey{options ticket}}",
};

export const addPasskeyMutation: Operation<AddPasskeyMutation, AddPasskeyMutationVariables> = {
  text: "mutation AddPasskey($ticket:String!$response:String!$name:String!){addPasskey(ticket:$ticket response:$response name:$name){id}}",
};

export const renamePasskeyMutation: Operation<RenamePasskeyMutation, RenamePasskeyMutationVariables> = {
  text: "mutation RenamePasskey($id:ID!$name:String!){renamePasskey(id:$id name:$name){id}}",
};

export const removePasskeyMutation: Operation<RemovePasskeyMutation, RemovePasskeyMutationVariables> = {
  text: "mutation RemovePasskey($id:ID!){removePasskey(id:$id){id}}",
};

export const endSessionMutation: Operation<EndSessionMutation, EndSessionMutationVariables> = {
  text: "mutation EndSession($id:ID!){endSession(id:$id)}",
};

export const endOtherSessionsMutation: Operation<EndOtherSessionsMutation, EndOtherSessionsMutationVariables> = {
  text: "mutation EndOtherSessions{endOtherSessions{id}}",
};
