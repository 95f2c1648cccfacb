// Made by `npm run operations` from ../operations.graphql.

import type { Operation } from '../backend-client.ts';

/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
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

export type UpdateWorkspaceInput = {
  readonly name?: string | null | undefined;
  readonly suspended?: boolean | null | undefined;
  /** The present name; absent: any. */
  readonly ifName?: string | null | undefined;
  /** Whether it is suspended now; absent: either. */
  readonly ifSuspended?: boolean | null | undefined;
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

export type SystemKeyInput = {
  readonly component: string;
  readonly key: string;
  readonly runtimeNames?: ReadonlyArray<string> | null | undefined;
};

export type ProblemFragment = { readonly code: string, readonly message: string, readonly repair: string };

export type WorkspaceQueryVariables = Exact<{
  name?: string | null | undefined;
}>;


export type WorkspaceQuery = { readonly workspace: { readonly id: string, readonly name: string } | null };

export type WorkspaceNamesQueryVariables = Exact<{ [key: string]: never; }>;


export type WorkspaceNamesQuery = { readonly workspaces: { readonly nodes: ReadonlyArray<{ readonly name: string }> } };

export type WorkspacesQueryVariables = Exact<{
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type WorkspacesQuery = { readonly workspaces: { readonly nodes: ReadonlyArray<{ readonly id: string, readonly name: string, readonly suspended: boolean, readonly revision: number, readonly createdAt: number, readonly owner: { readonly email: string, readonly name: string } | null }>, readonly pageInfo: { readonly next: string | null } } };

export type MemberFragment = { readonly id: string, readonly role: MemberRole, readonly suspended: boolean, readonly version: number, readonly person: { readonly email: string, readonly name: string } };

export type MembersQueryVariables = Exact<{
  workspace?: string | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type MembersQuery = { readonly workspace: { readonly members: { readonly nodes: ReadonlyArray<MemberFragment>, readonly pageInfo: { readonly next: string | null } } } | null };

export type KeysOfMembersQueryVariables = Exact<{
  workspace?: string | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type KeysOfMembersQuery = { readonly workspace: { readonly members: { readonly nodes: ReadonlyArray<{ readonly id: string, readonly keys: ReadonlyArray<{ readonly id: string, readonly name: string, readonly client: string | null }> }>, readonly pageInfo: { readonly next: string | null } } } | null };

export type OwnerQueryVariables = Exact<{
  name: string;
}>;


export type OwnerQuery = { readonly workspace: { readonly owner: { readonly email: string, readonly hasSignedIn: boolean } | null } | null };

export type CreateSignInLinkMutationVariables = Exact<{
  email: string;
}>;


export type CreateSignInLinkMutation = { readonly createSignInLink: { readonly email: string, readonly url: string, readonly expiresAt: number } };

export type InviteMemberMutationVariables = Exact<{
  workspace: string;
  input: MemberInput;
}>;


export type InviteMemberMutation = { readonly inviteMember: { readonly id: string, readonly email: string, readonly url: string | null, readonly expiresAt: number } };

export type AddMemberMutationVariables = Exact<{
  workspace: string;
  input: MemberInput;
}>;


export type AddMemberMutation = { readonly addMember: MemberFragment };

export type UpdateMemberMutationVariables = Exact<{
  workspace: string;
  id: string;
  input: MemberPatch;
}>;


export type UpdateMemberMutation = { readonly updateMember: { readonly id: string } };

export type RemoveMemberMutationVariables = Exact<{
  workspace: string;
  id: string;
  ifVersion?: number | null | undefined;
  ifUsedBy?: ReadonlyArray<string> | string | null | undefined;
  keysTo?: string | null | undefined;
}>;


export type RemoveMemberMutation = { readonly removeMember: boolean };

export type UpdateWorkspaceMutationVariables = Exact<{
  id: string;
  input: UpdateWorkspaceInput;
}>;


export type UpdateWorkspaceMutation = { readonly updateWorkspace: { readonly id: string } };

export type RemoveWorkspaceMutationVariables = Exact<{
  id: string;
  ifRevision?: number | null | undefined;
}>;


export type RemoveWorkspaceMutation = { readonly removeWorkspace: boolean };

export type WorkspaceStateQueryVariables = Exact<{
  id?: string | null | undefined;
}>;


export type WorkspaceStateQuery = { readonly workspace: { readonly suspended: boolean } | null };

export type AnyWorkspaceQueryVariables = Exact<{ [key: string]: never; }>;


export type AnyWorkspaceQuery = { readonly workspaces: { readonly nodes: ReadonlyArray<{ readonly id: string }> } };

export type CreateWorkspaceMutationVariables = Exact<{
  input: CreateWorkspaceInput;
}>;


export type CreateWorkspaceMutation = { readonly createWorkspace: { readonly id: string, readonly name: string } };

export type RegisterSystemKeysMutationVariables = Exact<{
  remoteMcp: SystemKeyInput;
  runtime: SystemKeyInput;
}>;


export type RegisterSystemKeysMutation = { readonly remoteMcp: boolean, readonly runtime: boolean };

export type McpServerFragment = { readonly id: string, readonly name: string, readonly kind: McpServerKind, readonly enabled: boolean, readonly version: number, readonly startTimeout: number | null, readonly callTimeout: number | null, readonly status: McpServerStatus, readonly health: Health, readonly restarts: number, readonly lastStartedAt: number | null, readonly nextRetryAt: number | null, readonly stderr: ReadonlyArray<string>, readonly sandboxes: ReadonlyArray<string>, readonly homes: ReadonlyArray<string>, readonly reason: ProblemFragment | null, readonly runtimes: ReadonlyArray<{ readonly id: string, readonly name: string, readonly platform: boolean, readonly available: boolean }>, readonly launch: { readonly command: string | null, readonly args: ReadonlyArray<string> | null, readonly cwd: string | null, readonly url: string | null, readonly envNames: ReadonlyArray<string>, readonly headerNames: ReadonlyArray<string>, readonly setBy: Author, readonly env: ReadonlyArray<{ readonly name: string, readonly value: string | null }>, readonly headers: ReadonlyArray<{ readonly name: string, readonly value: string | null }>, readonly settings: ReadonlyArray<{ readonly name: string, readonly title: string, readonly description: string, readonly secret: boolean, readonly required: boolean, readonly isSet: boolean }> } | null };

export type McpServersQueryVariables = Exact<{
  workspace?: string | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type McpServersQuery = { readonly workspace: { readonly mcpServers: { readonly nodes: ReadonlyArray<McpServerFragment>, readonly pageInfo: { readonly next: string | null } } } | null };

export type McpServerQueryVariables = Exact<{
  workspace?: string | null | undefined;
  id?: string | null | undefined;
}>;


export type McpServerQuery = { readonly workspace: { readonly mcpServer: McpServerFragment | null } | null };

export type ToolFragment = { readonly name: string | null, readonly originalName: string, readonly description: string | null, readonly listed: boolean };

export type ToolsOfMcpServerQueryVariables = Exact<{
  workspace?: string | null | undefined;
  id?: string | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type ToolsOfMcpServerQuery = { readonly workspace: { readonly mcpServer: { readonly tools: { readonly nodes: ReadonlyArray<ToolFragment>, readonly pageInfo: { readonly next: string | null } } } | null } | null };

export type CreateMcpServerMutationVariables = Exact<{
  workspace: string;
  input: McpServerInput;
}>;


export type CreateMcpServerMutation = { readonly createMcpServer: { readonly id: string, readonly name: string, readonly version: number } };

export type UpdateMcpServerMutationVariables = Exact<{
  workspace: string;
  id: string;
  input: McpServerPatch;
}>;


export type UpdateMcpServerMutation = { readonly updateMcpServer: { readonly id: string, readonly version: number } };

export type RemoveMcpServerMutationVariables = Exact<{
  workspace: string;
  id: string;
  ifVersion?: number | null | undefined;
  ifUsedBy?: ReadonlyArray<string> | string | null | undefined;
}>;


export type RemoveMcpServerMutation = { readonly removeMcpServer: boolean };

export type RestartMcpServerMutationVariables = Exact<{
  workspace: string;
  id: string;
}>;


export type RestartMcpServerMutation = { readonly restartMcpServer: boolean };

export type SkillsOfMcpServerQueryVariables = Exact<{
  workspace?: string | null | undefined;
  id?: string | null | undefined;
}>;


export type SkillsOfMcpServerQuery = { readonly workspace: { readonly mcpServer: { readonly skills: ReadonlyArray<{ readonly id: string, readonly name: string }> } | null } | null };

export type ChangedSettingsQueryVariables = Exact<{
  workspace?: string | null | undefined;
  id?: string | null | undefined;
  launch: LaunchInput;
}>;


export type ChangedSettingsQuery = { readonly workspace: { readonly mcpServer: { readonly changedSettings: ReadonlyArray<string> } | null } | null };

export type IntegrationFragment = { readonly id: string, readonly state: IntegrationState, readonly issuer: string | null, readonly client: IntegrationClient | null, readonly clientId: string | null, readonly scopes: ReadonlyArray<string>, readonly wantedScopes: ReadonlyArray<string>, readonly expiresAt: number | null, readonly refreshedAt: number | null, readonly connectedAt: number | null, readonly redirectUri: string, readonly problem: ProblemFragment | null, readonly mcpServer: { readonly id: string, readonly name: string } | null };

export type IntegrationsQueryVariables = Exact<{
  workspace?: string | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type IntegrationsQuery = { readonly workspace: { readonly integrations: { readonly nodes: ReadonlyArray<IntegrationFragment>, readonly pageInfo: { readonly next: string | null } } } | null };

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


export type DisconnectIntegrationMutation = { readonly disconnectIntegration: { readonly id: string, readonly state: IntegrationState } };

export type SkillFragment = { readonly id: string, readonly name: string, readonly available: boolean, readonly reason: ProblemFragment | null, readonly tools: ReadonlyArray<{ readonly id: string }>, readonly mcpServers: ReadonlyArray<{ readonly id: string, readonly name: string }>, readonly roles: ReadonlyArray<{ readonly name: string }> };

export type SkillsQueryVariables = Exact<{
  workspace?: string | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type SkillsQuery = { readonly workspace: { readonly skills: { readonly nodes: ReadonlyArray<SkillFragment>, readonly pageInfo: { readonly next: string | null } } } | null };

export type SkillNamesQueryVariables = Exact<{
  workspace?: string | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type SkillNamesQuery = { readonly workspace: { readonly skills: { readonly nodes: ReadonlyArray<{ readonly id: string, readonly name: string }>, readonly pageInfo: { readonly next: string | null } } } | null };

export type SkillPartsFragment = { readonly id: string, readonly name: string, readonly description: string, readonly instructions: string, readonly version: number, readonly namedTools: ReadonlyArray<{ readonly originalName: string, readonly mcpServer: { readonly name: string } }>, readonly patterns: ReadonlyArray<{ readonly pattern: string, readonly mcpServer: { readonly name: string } }>, readonly roles: ReadonlyArray<{ readonly id: string, readonly name: string }>, readonly files: ReadonlyArray<{ readonly path: string, readonly sizeBytes: number }> };

export type SkillPartsQueryVariables = Exact<{
  workspace?: string | null | undefined;
  id?: string | null | undefined;
  name?: string | null | undefined;
}>;


export type SkillPartsQuery = { readonly workspace: { readonly skill: SkillPartsFragment | null } | null };

export type SkillQueryVariables = Exact<{
  workspace?: string | null | undefined;
  id?: string | null | undefined;
}>;


export type SkillQuery = { readonly workspace: { readonly skill: (
      { readonly available: boolean, readonly reason: ProblemFragment | null, readonly tools: ReadonlyArray<{ readonly name: string | null, readonly originalName: string, readonly listed: boolean, readonly mcpServer: { readonly name: string, readonly status: McpServerStatus } }>, readonly mcpServers: ReadonlyArray<{ readonly id: string, readonly name: string }> }
      & SkillPartsFragment
    ) | null } | null };

export type CreateSkillMutationVariables = Exact<{
  workspace: string;
  input: SkillInput;
}>;


export type CreateSkillMutation = { readonly createSkill: { readonly id: string, readonly name: string } };

export type UpdateSkillMutationVariables = Exact<{
  workspace: string;
  id: string;
  input: SkillPatch;
}>;


export type UpdateSkillMutation = { readonly updateSkill: { readonly id: string } };

export type RemoveSkillMutationVariables = Exact<{
  workspace: string;
  id: string;
  ifVersion?: number | null | undefined;
  ifUsedBy?: ReadonlyArray<string> | string | null | undefined;
}>;


export type RemoveSkillMutation = { readonly removeSkill: boolean };

export type SkillFileFragment = { readonly path: string, readonly digest: string, readonly sizeBytes: number, readonly url: string };

export type FilesOfSkillQueryVariables = Exact<{
  workspace: string;
  skill?: string | null | undefined;
}>;


export type FilesOfSkillQuery = { readonly workspace: { readonly skill: { readonly files: ReadonlyArray<SkillFileFragment> } | null } | null };

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

export type RoleLimitsFragment = { readonly readOnly: boolean, readonly rules: ReadonlyArray<{ readonly effect: ToolRuleEffect, readonly tool: string, readonly mcpServer: { readonly name: string } }> };

export type RoleFragment = (
  { readonly id: string, readonly name: string, readonly enabled: boolean, readonly skills: ReadonlyArray<{ readonly id: string, readonly name: string }> }
  & RoleLimitsFragment
);

export type RolesQueryVariables = Exact<{
  workspace?: string | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type RolesQuery = { readonly workspace: { readonly roles: { readonly nodes: ReadonlyArray<RoleFragment>, readonly pageInfo: { readonly next: string | null } } } | null };

export type RoleQueryVariables = Exact<{
  workspace?: string | null | undefined;
  id?: string | null | undefined;
  name?: string | null | undefined;
}>;


export type RoleQuery = { readonly workspace: { readonly role: (
      { readonly id: string, readonly name: string, readonly description: string, readonly enabled: boolean, readonly version: number, readonly skills: ReadonlyArray<{ readonly id: string, readonly name: string, readonly available: boolean }>, readonly keys: ReadonlyArray<{ readonly id: string, readonly name: string, readonly roles: ReadonlyArray<{ readonly id: string }> | null }> }
      & RoleLimitsFragment
    ) | null } | null };

export type CreateRoleMutationVariables = Exact<{
  workspace: string;
  input: RoleInput;
}>;


export type CreateRoleMutation = { readonly createRole: { readonly id: string, readonly name: string, readonly enabled: boolean } };

export type UpdateRoleMutationVariables = Exact<{
  workspace: string;
  id: string;
  input: RolePatch;
}>;


export type UpdateRoleMutation = { readonly updateRole: { readonly id: string } };

export type RemoveRoleMutationVariables = Exact<{
  workspace: string;
  id: string;
  ifVersion?: number | null | undefined;
  ifUsedBy?: ReadonlyArray<string> | string | null | undefined;
}>;


export type RemoveRoleMutation = { readonly removeRole: boolean };

export type KeyFragment = { readonly id: string, readonly name: string, readonly hint: string, readonly version: number, readonly state: KeyState, readonly disclosure: KeyDisclosure, readonly expiresAt: number | null, readonly revokedAt: number | null, readonly firstUsedAt: number | null, readonly lastUsedAt: number | null, readonly lastUsedStepMs: number, readonly createdAt: number, readonly roles: ReadonlyArray<{ readonly id: string, readonly name: string }> | null, readonly replaces: { readonly id: string, readonly hint: string, readonly lastUsedAt: number | null, readonly lastUsedStepMs: number, readonly expiresAt: number | null } | null };

export type KeysQueryVariables = Exact<{
  workspace?: string | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type KeysQuery = { readonly workspace: { readonly keys: { readonly nodes: ReadonlyArray<KeyFragment>, readonly pageInfo: { readonly next: string | null } } } | null };

export type CreateKeyMutationVariables = Exact<{
  workspace: string;
  input: KeyInput;
}>;


export type CreateKeyMutation = { readonly createKey: { readonly secret: string, readonly key: { readonly id: string, readonly name: string, readonly expiresAt: number | null } } };

export type IdentifyKeyQueryVariables = Exact<{
  secret: string;
}>;


export type IdentifyKeyQuery = { readonly identifyKey: { readonly key: KeyFragment, readonly workspace: { readonly id: string, readonly name: string } } | null };

export type ImportKeyMutationVariables = Exact<{
  workspace: string;
  input: KeyInput;
  secret: string;
}>;


export type ImportKeyMutation = { readonly importKey: { readonly id: string, readonly name: string, readonly hint: string, readonly expiresAt: number | null } };

export type UpdateKeyMutationVariables = Exact<{
  workspace: string;
  id: string;
  input: KeyPatch;
}>;


export type UpdateKeyMutation = { readonly updateKey: { readonly id: string, readonly name: string, readonly version: number } };

export type RotateKeyMutationVariables = Exact<{
  workspace: string;
  id: string;
  expiresAt?: number | null | undefined;
}>;


export type RotateKeyMutation = { readonly rotateKey: { readonly secret: string, readonly key: { readonly id: string, readonly name: string, readonly disclosure: KeyDisclosure, readonly expiresAt: number | null, readonly roles: ReadonlyArray<{ readonly id: string, readonly name: string }> | null } } };

export type RevokeKeyMutationVariables = Exact<{
  workspace: string;
  key: string;
  ifVersion?: number | null | undefined;
}>;


export type RevokeKeyMutation = { readonly revokeKey: { readonly id: string, readonly name: string, readonly hint: string, readonly lastUsedAt: number | null } };

export type ToolsOfWorkspaceQueryVariables = Exact<{
  workspace?: string | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type ToolsOfWorkspaceQuery = { readonly workspace: { readonly tools: { readonly nodes: ReadonlyArray<{ readonly id: string, readonly name: string | null, readonly originalName: string, readonly listed: boolean, readonly definition: string | null, readonly mcpServer: { readonly name: string } }>, readonly pageInfo: { readonly next: string | null } } } | null };

export type UsageOfHourQueryVariables = Exact<{
  workspace?: string | null | undefined;
  from: number;
  to: number;
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type UsageOfHourQuery = { readonly workspace: { readonly usage: { readonly nodes: ReadonlyArray<{ readonly keyId: string, readonly tool: string, readonly skill: string | null, readonly mcpServer: string }>, readonly pageInfo: { readonly next: string | null } } } | null };

export type RuntimeFragment = { readonly id: string, readonly name: string, readonly platform: boolean, readonly available: boolean, readonly lastHeartbeatAt: number | null, readonly versions: ReadonlyArray<string>, readonly sandboxes: ReadonlyArray<string> };

export type RuntimesQueryVariables = Exact<{
  workspace?: string | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type RuntimesQuery = { readonly workspace: { readonly runtimes: { readonly nodes: ReadonlyArray<RuntimeFragment>, readonly pageInfo: { readonly next: string | null } } } | null };

export type PlatformRuntimesQueryVariables = Exact<{
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type PlatformRuntimesQuery = { readonly platformRuntimes: { readonly nodes: ReadonlyArray<RuntimeFragment>, readonly pageInfo: { readonly next: string | null } } };

export type RegisterRuntimeMutationVariables = Exact<{
  workspace: string;
  name: string;
}>;


export type RegisterRuntimeMutation = { readonly registerRuntime: { readonly secret: string, readonly busServers: ReadonlyArray<string>, readonly overlapEndsAt: number | null, readonly runtime: { readonly id: string, readonly name: string } } };

export type RevokeRuntimeMutationVariables = Exact<{
  workspace: string;
  id: string;
  ifUsedBy?: ReadonlyArray<string> | string | null | undefined;
}>;


export type RevokeRuntimeMutation = { readonly revokeRuntime: boolean };

export type ToolsQueryVariables = Exact<{
  workspace?: string | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
  search?: string | null | undefined;
}>;


export type ToolsQuery = { readonly workspace: { readonly tools: { readonly nodes: ReadonlyArray<(
        { readonly mcpServer: { readonly name: string, readonly status: McpServerStatus } }
        & ToolFragment
      )>, readonly pageInfo: { readonly next: string | null } } } | null };

export type ActivityQueryVariables = Exact<{
  workspace?: string | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type ActivityQuery = { readonly workspace: { readonly activity: { readonly nodes: ReadonlyArray<{ readonly at: number, readonly actorName: string, readonly action: string, readonly subjectKind: string, readonly subjectName: string, readonly changes: string }>, readonly pageInfo: { readonly next: string | null } } } | null };

export type UsageQueryVariables = Exact<{
  workspace?: string | null | undefined;
  from?: number | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type UsageQuery = { readonly workspace: { readonly usage: { readonly nodes: ReadonlyArray<{ readonly hour: number, readonly key: string, readonly tool: string, readonly skill: string | null, readonly mcpServer: string, readonly calls: number, readonly errors: number, readonly durationMs: number }>, readonly pageInfo: { readonly next: string | null } } } | null };

export type CallSumsQueryVariables = Exact<{
  from?: number | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type CallSumsQuery = { readonly workspaces: { readonly nodes: ReadonlyArray<{ readonly usage: { readonly nodes: ReadonlyArray<{ readonly calls: number, readonly errors: number }>, readonly pageInfo: { readonly next: string | null } } }>, readonly pageInfo: { readonly next: string | null } } };

export type McpServerHealthFragment = { readonly id: string, readonly name: string, readonly status: McpServerStatus, readonly health: Health, readonly sandboxes: ReadonlyArray<string>, readonly reason: ProblemFragment | null };

export type RuntimeHealthFragment = { readonly id: string, readonly name: string, readonly available: boolean, readonly sandboxes: ReadonlyArray<string> };

export type HealthOfPlatformRuntimesQueryVariables = Exact<{
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type HealthOfPlatformRuntimesQuery = { readonly platformRuntimes: { readonly nodes: ReadonlyArray<RuntimeHealthFragment>, readonly pageInfo: { readonly next: string | null } } };

export type MailHealthFragment = { readonly waiting: number, readonly failed: number, readonly unsure: number, readonly oldestAt: number | null, readonly lastError: string | null };

export type HealthOfMailQueryVariables = Exact<{ [key: string]: never; }>;


export type HealthOfMailQuery = { readonly mail: MailHealthFragment };

export type HealthOfWorkspacesQueryVariables = Exact<{
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type HealthOfWorkspacesQuery = { readonly workspaces: { readonly nodes: ReadonlyArray<{ readonly id: string, readonly name: string, readonly mcpServers: { readonly nodes: ReadonlyArray<McpServerHealthFragment>, readonly pageInfo: { readonly next: string | null } }, readonly runtimes: { readonly nodes: ReadonlyArray<RuntimeHealthFragment>, readonly pageInfo: { readonly next: string | null } } }>, readonly pageInfo: { readonly next: string | null } } };

export type HealthOfMcpServersQueryVariables = Exact<{
  workspace?: string | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type HealthOfMcpServersQuery = { readonly workspace: { readonly mcpServers: { readonly nodes: ReadonlyArray<McpServerHealthFragment>, readonly pageInfo: { readonly next: string | null } } } | null };

export type HealthOfRuntimesQueryVariables = Exact<{
  workspace?: string | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type HealthOfRuntimesQuery = { readonly workspace: { readonly runtimes: { readonly nodes: ReadonlyArray<RuntimeHealthFragment>, readonly pageInfo: { readonly next: string | null } } } | null };

export type LiveMcpServerFragment = { readonly id: string, readonly name: string, readonly enabled: boolean, readonly startTimeout: number | null, readonly callTimeout: number | null, readonly version: number, readonly launch: { readonly command: string | null, readonly args: ReadonlyArray<string> | null, readonly cwd: string | null, readonly url: string | null, readonly fingerprint: string, readonly setBy: Author, readonly env: ReadonlyArray<{ readonly name: string, readonly value: string | null }>, readonly headers: ReadonlyArray<{ readonly name: string, readonly value: string | null }>, readonly settings: ReadonlyArray<{ readonly name: string, readonly title: string, readonly description: string, readonly secret: boolean, readonly required: boolean }> } | null, readonly runtimes: ReadonlyArray<{ readonly name: string, readonly platform: boolean }> };

export type LiveMcpServersQueryVariables = Exact<{
  workspace?: string | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type LiveMcpServersQuery = { readonly workspace: { readonly mcpServers: { readonly nodes: ReadonlyArray<LiveMcpServerFragment>, readonly pageInfo: { readonly next: string | null } } } | null };

export type LiveSkillFragment = { readonly id: string, readonly name: string, readonly description: string, readonly instructions: string, readonly version: number, readonly namedTools: ReadonlyArray<{ readonly originalName: string, readonly mcpServer: { readonly name: string } }>, readonly patterns: ReadonlyArray<{ readonly pattern: string, readonly mcpServer: { readonly name: string } }> };

export type LiveSkillsQueryVariables = Exact<{
  workspace?: string | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type LiveSkillsQuery = { readonly workspace: { readonly skills: { readonly nodes: ReadonlyArray<LiveSkillFragment>, readonly pageInfo: { readonly next: string | null } } } | null };

export type LiveRoleFragment = (
  { readonly id: string, readonly name: string, readonly description: string, readonly enabled: boolean, readonly version: number, readonly skills: ReadonlyArray<{ readonly id: string, readonly name: string }> }
  & RoleLimitsFragment
);

export type LiveRolesQueryVariables = Exact<{
  workspace?: string | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type LiveRolesQuery = { readonly workspace: { readonly roles: { readonly nodes: ReadonlyArray<LiveRoleFragment>, readonly pageInfo: { readonly next: string | null } } } | null };

export type RuntimeNamesQueryVariables = Exact<{
  workspace?: string | null | undefined;
}>;


export type RuntimeNamesQuery = { readonly workspace: { readonly runtimes: { readonly nodes: ReadonlyArray<{ readonly name: string }> } } | null, readonly platformRuntimes: { readonly nodes: ReadonlyArray<{ readonly name: string }> } };

export type JudgeLaunchQueryVariables = Exact<{
  workspace?: string | null | undefined;
  name: string;
  launch: LaunchInput;
}>;


export type JudgeLaunchQuery = { readonly workspace: { readonly launchFingerprint: string, readonly launchRefusal: string | null, readonly mcpServer: { readonly changedSettings: ReadonlyArray<string> } | null } | null };

export type McpServersAppliedQueryVariables = Exact<{
  workspace?: string | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type McpServersAppliedQuery = { readonly workspace: { readonly mcpServers: { readonly nodes: ReadonlyArray<{ readonly name: string, readonly enabled: boolean, readonly status: McpServerStatus, readonly reason: ProblemFragment | null, readonly runtimes: ReadonlyArray<{ readonly available: boolean }> }>, readonly pageInfo: { readonly next: string | null } } } | null };

export type SkillsAppliedQueryVariables = Exact<{
  workspace?: string | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type SkillsAppliedQuery = { readonly workspace: { readonly skills: { readonly nodes: ReadonlyArray<{ readonly name: string, readonly reason: ProblemFragment | null }>, readonly pageInfo: { readonly next: string | null } } } | null };

export type CompleteIntegrationsQueryVariables = Exact<{
  workspace?: string | null | undefined;
}>;


export type CompleteIntegrationsQuery = { readonly workspace: { readonly integrations: { readonly nodes: ReadonlyArray<{ readonly mcpServer: { readonly name: string } | null }> } } | null };

export type CompleteMcpServersQueryVariables = Exact<{
  workspace?: string | null | undefined;
  search?: string | null | undefined;
}>;


export type CompleteMcpServersQuery = { readonly workspace: { readonly mcpServers: { readonly nodes: ReadonlyArray<{ readonly name: string }> } } | null };

export type CompleteToolsQueryVariables = Exact<{
  workspace?: string | null | undefined;
  server?: string | null | undefined;
}>;


export type CompleteToolsQuery = { readonly workspace: { readonly mcpServer: { readonly tools: { readonly nodes: ReadonlyArray<{ readonly originalName: string }> } } | null } | null };

export type CompleteSkillsQueryVariables = Exact<{
  workspace?: string | null | undefined;
  search?: string | null | undefined;
}>;


export type CompleteSkillsQuery = { readonly workspace: { readonly skills: { readonly nodes: ReadonlyArray<{ readonly name: string }> } } | null };

export type CompleteRolesQueryVariables = Exact<{
  workspace?: string | null | undefined;
  search?: string | null | undefined;
}>;


export type CompleteRolesQuery = { readonly workspace: { readonly roles: { readonly nodes: ReadonlyArray<{ readonly name: string }> } } | null };

export type CompleteKeysQueryVariables = Exact<{
  workspace?: string | null | undefined;
  search?: string | null | undefined;
}>;


export type CompleteKeysQuery = { readonly workspace: { readonly keys: { readonly nodes: ReadonlyArray<{ readonly name: string, readonly state: KeyState }> } } | null };

export type CompleteRuntimesQueryVariables = Exact<{
  workspace?: string | null | undefined;
}>;


export type CompleteRuntimesQuery = { readonly workspace: { readonly runtimes: { readonly nodes: ReadonlyArray<{ readonly name: string }> } } | null };

export type CompleteWorkspacesQueryVariables = Exact<{
  search?: string | null | undefined;
}>;


export type CompleteWorkspacesQuery = { readonly workspaces: { readonly nodes: ReadonlyArray<{ readonly name: string }> } };

export const workspaceQuery: Operation<WorkspaceQuery, WorkspaceQueryVariables> = {
  text: "query Workspace($name:String){workspace(name:$name){id name}}",
};

export const workspaceNamesQuery: Operation<WorkspaceNamesQuery, WorkspaceNamesQueryVariables> = {
  text: "query WorkspaceNames{workspaces{nodes{name}}}",
};

export const workspacesQuery: Operation<WorkspacesQuery, WorkspacesQueryVariables> = {
  text: "query Workspaces($first:Int$after:String){workspaces(first:$first after:$after){nodes{id name suspended revision createdAt owner{email name}}pageInfo{next}}}",
};

export const membersQuery: Operation<MembersQuery, MembersQueryVariables> = {
  text: "query Members($workspace:ID$first:Int$after:String){workspace(id:$workspace){members(first:$first after:$after){nodes{...Member}pageInfo{next}}}}fragment Member on Member{id role suspended version person{email name}}",
};

export const keysOfMembersQuery: Operation<KeysOfMembersQuery, KeysOfMembersQueryVariables> = {
  text: "query KeysOfMembers($workspace:ID$first:Int$after:String){workspace(id:$workspace){members(first:$first after:$after){nodes{id keys(first:100){id name client}}pageInfo{next}}}}",
};

export const ownerQuery: Operation<OwnerQuery, OwnerQueryVariables> = {
  text: "query Owner($name:String!){workspace(name:$name){owner{email hasSignedIn}}}",
};

export const createSignInLinkMutation: Operation<CreateSignInLinkMutation, CreateSignInLinkMutationVariables> = {
  text: "mutation CreateSignInLink($email:String!){createSignInLink(email:$email){email url expiresAt}}",
};

export const inviteMemberMutation: Operation<InviteMemberMutation, InviteMemberMutationVariables> = {
  text: "mutation InviteMember($workspace:ID!$input:MemberInput!){inviteMember(workspace:$workspace input:$input){id email url expiresAt}}",
};

export const addMemberMutation: Operation<AddMemberMutation, AddMemberMutationVariables> = {
  text: "mutation AddMember($workspace:ID!$input:MemberInput!){addMember(workspace:$workspace input:$input){...Member}}fragment Member on Member{id role suspended version person{email name}}",
};

export const updateMemberMutation: Operation<UpdateMemberMutation, UpdateMemberMutationVariables> = {
  text: "mutation UpdateMember($workspace:ID!$id:ID!$input:MemberPatch!){updateMember(workspace:$workspace id:$id input:$input){id}}",
};

export const removeMemberMutation: Operation<RemoveMemberMutation, RemoveMemberMutationVariables> = {
  text: "mutation RemoveMember($workspace:ID!$id:ID!$ifVersion:Int$ifUsedBy:[ID!]$keysTo:ID){removeMember(workspace:$workspace id:$id ifVersion:$ifVersion ifUsedBy:$ifUsedBy keysTo:$keysTo)}",
};

export const updateWorkspaceMutation: Operation<UpdateWorkspaceMutation, UpdateWorkspaceMutationVariables> = {
  text: "mutation UpdateWorkspace($id:ID!$input:UpdateWorkspaceInput!){updateWorkspace(id:$id input:$input){id}}",
};

export const removeWorkspaceMutation: Operation<RemoveWorkspaceMutation, RemoveWorkspaceMutationVariables> = {
  text: "mutation RemoveWorkspace($id:ID!$ifRevision:Int){removeWorkspace(id:$id ifRevision:$ifRevision)}",
};

export const workspaceStateQuery: Operation<WorkspaceStateQuery, WorkspaceStateQueryVariables> = {
  text: "query WorkspaceState($id:ID){workspace(id:$id){suspended}}",
};

export const anyWorkspaceQuery: Operation<AnyWorkspaceQuery, AnyWorkspaceQueryVariables> = {
  text: "query AnyWorkspace{workspaces(first:1){nodes{id}}}",
};

export const createWorkspaceMutation: Operation<CreateWorkspaceMutation, CreateWorkspaceMutationVariables> = {
  text: "mutation CreateWorkspace($input:CreateWorkspaceInput!){createWorkspace(input:$input){id name}}",
};

export const registerSystemKeysMutation: Operation<RegisterSystemKeysMutation, RegisterSystemKeysMutationVariables> = {
  text: "mutation RegisterSystemKeys($remoteMcp:SystemKeyInput!$runtime:SystemKeyInput!){remoteMcp:registerSystemKey(input:$remoteMcp)runtime:registerSystemKey(input:$runtime)}",
};

export const mcpServersQuery: Operation<McpServersQuery, McpServersQueryVariables> = {
  text: "query McpServers($workspace:ID$first:Int$after:String){workspace(id:$workspace){mcpServers(first:$first after:$after){nodes{...McpServer}pageInfo{next}}}}fragment Problem on Reason{code message repair}fragment McpServer on McpServer{id name kind enabled version startTimeout callTimeout status health reason{...Problem}restarts lastStartedAt nextRetryAt stderr sandboxes homes runtimes{id name platform available}launch{command args cwd url envNames headerNames env{name value}headers{name value}settings{name title description secret required isSet}setBy}}",
};

export const mcpServerQuery: Operation<McpServerQuery, McpServerQueryVariables> = {
  text: "query McpServer($workspace:ID$id:ID){workspace(id:$workspace){mcpServer(id:$id){...McpServer}}}fragment Problem on Reason{code message repair}fragment McpServer on McpServer{id name kind enabled version startTimeout callTimeout status health reason{...Problem}restarts lastStartedAt nextRetryAt stderr sandboxes homes runtimes{id name platform available}launch{command args cwd url envNames headerNames env{name value}headers{name value}settings{name title description secret required isSet}setBy}}",
};

export const toolsOfMcpServerQuery: Operation<ToolsOfMcpServerQuery, ToolsOfMcpServerQueryVariables> = {
  text: "query ToolsOfMcpServer($workspace:ID$id:ID$first:Int$after:String){workspace(id:$workspace){mcpServer(id:$id){tools(first:$first after:$after){nodes{...Tool}pageInfo{next}}}}}fragment Tool on Tool{name originalName description listed}",
};

export const createMcpServerMutation: Operation<CreateMcpServerMutation, CreateMcpServerMutationVariables> = {
  text: "mutation CreateMcpServer($workspace:ID!$input:McpServerInput!){createMcpServer(workspace:$workspace input:$input){id name version}}",
};

export const updateMcpServerMutation: Operation<UpdateMcpServerMutation, UpdateMcpServerMutationVariables> = {
  text: "mutation UpdateMcpServer($workspace:ID!$id:ID!$input:McpServerPatch!){updateMcpServer(workspace:$workspace id:$id input:$input){id version}}",
};

export const removeMcpServerMutation: Operation<RemoveMcpServerMutation, RemoveMcpServerMutationVariables> = {
  text: "mutation RemoveMcpServer($workspace:ID!$id:ID!$ifVersion:Int$ifUsedBy:[ID!]){removeMcpServer(workspace:$workspace id:$id ifVersion:$ifVersion ifUsedBy:$ifUsedBy)}",
};

export const restartMcpServerMutation: Operation<RestartMcpServerMutation, RestartMcpServerMutationVariables> = {
  text: "mutation RestartMcpServer($workspace:ID!$id:ID!){restartMcpServer(workspace:$workspace id:$id)}",
};

export const skillsOfMcpServerQuery: Operation<SkillsOfMcpServerQuery, SkillsOfMcpServerQueryVariables> = {
  text: "query SkillsOfMcpServer($workspace:ID$id:ID){workspace(id:$workspace){mcpServer(id:$id){skills(first:500){id name}}}}",
};

export const changedSettingsQuery: Operation<ChangedSettingsQuery, ChangedSettingsQueryVariables> = {
  text: "query ChangedSettings($workspace:ID$id:ID$launch:LaunchInput!){workspace(id:$workspace){mcpServer(id:$id){changedSettings(launch:$launch)}}}",
};

export const integrationsQuery: Operation<IntegrationsQuery, IntegrationsQueryVariables> = {
  text: "query Integrations($workspace:ID$first:Int$after:String){workspace(id:$workspace){integrations(first:$first after:$after){nodes{...Integration}pageInfo{next}}}}fragment Problem on Reason{code message repair}fragment Integration on Integration{id state issuer client clientId scopes wantedScopes expiresAt refreshedAt connectedAt redirectUri problem{...Problem}mcpServer{id name}}",
};

export const updateIntegrationMutation: Operation<UpdateIntegrationMutation, UpdateIntegrationMutationVariables> = {
  text: "mutation UpdateIntegration($workspace:ID!$id:ID!$input:IntegrationPatch!){updateIntegration(workspace:$workspace id:$id input:$input){id}}",
};

export const disconnectIntegrationMutation: Operation<DisconnectIntegrationMutation, DisconnectIntegrationMutationVariables> = {
  text: "mutation DisconnectIntegration($workspace:ID!$id:ID!){disconnectIntegration(workspace:$workspace id:$id){id state}}",
};

export const skillsQuery: Operation<SkillsQuery, SkillsQueryVariables> = {
  text: "query Skills($workspace:ID$first:Int$after:String){workspace(id:$workspace){skills(first:$first after:$after){nodes{...Skill}pageInfo{next}}}}fragment Problem on Reason{code message repair}fragment Skill on Skill{id name available reason{...Problem}tools{id}mcpServers(first:1000){id name}roles{name}}",
};

export const skillNamesQuery: Operation<SkillNamesQuery, SkillNamesQueryVariables> = {
  text: "query SkillNames($workspace:ID$first:Int$after:String){workspace(id:$workspace){skills(first:$first after:$after){nodes{id name}pageInfo{next}}}}",
};

export const skillPartsQuery: Operation<SkillPartsQuery, SkillPartsQueryVariables> = {
  text: "query SkillParts($workspace:ID$id:ID$name:String){workspace(id:$workspace){skill(id:$id name:$name){...SkillParts}}}fragment SkillParts on Skill{id name description instructions version namedTools{originalName mcpServer{name}}patterns{pattern mcpServer{name}}roles(first:1000){id name}files{path sizeBytes}}",
};

export const skillQuery: Operation<SkillQuery, SkillQueryVariables> = {
  text: "query Skill($workspace:ID$id:ID){workspace(id:$workspace){skill(id:$id){...SkillParts available reason{...Problem}tools{name originalName listed mcpServer{name status}}mcpServers(first:1000){id name}}}}fragment Problem on Reason{code message repair}fragment SkillParts on Skill{id name description instructions version namedTools{originalName mcpServer{name}}patterns{pattern mcpServer{name}}roles(first:1000){id name}files{path sizeBytes}}",
};

export const createSkillMutation: Operation<CreateSkillMutation, CreateSkillMutationVariables> = {
  text: "mutation CreateSkill($workspace:ID!$input:SkillInput!){createSkill(workspace:$workspace input:$input){id name}}",
};

export const updateSkillMutation: Operation<UpdateSkillMutation, UpdateSkillMutationVariables> = {
  text: "mutation UpdateSkill($workspace:ID!$id:ID!$input:SkillPatch!){updateSkill(workspace:$workspace id:$id input:$input){id}}",
};

export const removeSkillMutation: Operation<RemoveSkillMutation, RemoveSkillMutationVariables> = {
  text: "mutation RemoveSkill($workspace:ID!$id:ID!$ifVersion:Int$ifUsedBy:[ID!]){removeSkill(workspace:$workspace id:$id ifVersion:$ifVersion ifUsedBy:$ifUsedBy)}",
};

export const filesOfSkillQuery: Operation<FilesOfSkillQuery, FilesOfSkillQueryVariables> = {
  text: "query FilesOfSkill($workspace:ID!$skill:ID){workspace(id:$workspace){skill(id:$skill){files{...SkillFile}}}}fragment SkillFile on SkillFile{path digest sizeBytes url}",
};

export const addSkillFileMutation: Operation<AddSkillFileMutation, AddSkillFileMutationVariables> = {
  text: "mutation AddSkillFile($workspace:ID!$skill:ID!$input:SkillFileInput!){addSkillFile(workspace:$workspace skill:$skill input:$input){url}}",
};

export const removeSkillFileMutation: Operation<RemoveSkillFileMutation, RemoveSkillFileMutationVariables> = {
  text: "mutation RemoveSkillFile($workspace:ID!$skill:ID!$path:String!$ifDigest:String){removeSkillFile(workspace:$workspace skill:$skill path:$path ifDigest:$ifDigest)}",
};

export const rolesQuery: Operation<RolesQuery, RolesQueryVariables> = {
  text: "query Roles($workspace:ID$first:Int$after:String){workspace(id:$workspace){roles(first:$first after:$after){nodes{...Role}pageInfo{next}}}}fragment RoleLimits on Role{readOnly rules(first:100){effect tool mcpServer{name}}}fragment Role on Role{id name enabled ...RoleLimits skills(first:1000){id name}}",
};

export const roleQuery: Operation<RoleQuery, RoleQueryVariables> = {
  text: "query Role($workspace:ID$id:ID$name:String){workspace(id:$workspace){role(id:$id name:$name){id name description enabled version ...RoleLimits skills(first:1000){id name available}keys(first:1000){id name roles(first:2){id}}}}}fragment RoleLimits on Role{readOnly rules(first:100){effect tool mcpServer{name}}}",
};

export const createRoleMutation: Operation<CreateRoleMutation, CreateRoleMutationVariables> = {
  text: "mutation CreateRole($workspace:ID!$input:RoleInput!){createRole(workspace:$workspace input:$input){id name enabled}}",
};

export const updateRoleMutation: Operation<UpdateRoleMutation, UpdateRoleMutationVariables> = {
  text: "mutation UpdateRole($workspace:ID!$id:ID!$input:RolePatch!){updateRole(workspace:$workspace id:$id input:$input){id}}",
};

export const removeRoleMutation: Operation<RemoveRoleMutation, RemoveRoleMutationVariables> = {
  text: "mutation RemoveRole($workspace:ID!$id:ID!$ifVersion:Int$ifUsedBy:[ID!]){removeRole(workspace:$workspace id:$id ifVersion:$ifVersion ifUsedBy:$ifUsedBy)}",
};

export const keysQuery: Operation<KeysQuery, KeysQueryVariables> = {
  text: "query Keys($workspace:ID$first:Int$after:String){workspace(id:$workspace){keys(first:$first after:$after){nodes{...Key}pageInfo{next}}}}fragment Key on Key{id name hint version state disclosure expiresAt revokedAt firstUsedAt lastUsedAt lastUsedStepMs createdAt roles{id name}replaces{id hint lastUsedAt lastUsedStepMs expiresAt}}",
};

export const createKeyMutation: Operation<CreateKeyMutation, CreateKeyMutationVariables> = {
  text: "mutation CreateKey($workspace:ID!$input:KeyInput!){createKey(workspace:$workspace input:$input){secret key{id name expiresAt}}}",
};

export const identifyKeyQuery: Operation<IdentifyKeyQuery, IdentifyKeyQueryVariables> = {
  text: "query IdentifyKey($secret:String!){identifyKey(secret:$secret){key{...Key}workspace{id name}}}fragment Key on Key{id name hint version state disclosure expiresAt revokedAt firstUsedAt lastUsedAt lastUsedStepMs createdAt roles{id name}replaces{id hint lastUsedAt lastUsedStepMs expiresAt}}",
};

export const importKeyMutation: Operation<ImportKeyMutation, ImportKeyMutationVariables> = {
  text: "mutation ImportKey($workspace:ID!$input:KeyInput!$secret:String!){importKey(workspace:$workspace input:$input secret:$secret){id name hint expiresAt}}",
};

export const updateKeyMutation: Operation<UpdateKeyMutation, UpdateKeyMutationVariables> = {
  text: "mutation UpdateKey($workspace:ID!$id:ID!$input:KeyPatch!){updateKey(workspace:$workspace id:$id input:$input){id name version}}",
};

export const rotateKeyMutation: Operation<RotateKeyMutation, RotateKeyMutationVariables> = {
  text: "mutation RotateKey($workspace:ID!$id:ID!$expiresAt:Float){rotateKey(workspace:$workspace id:$id expiresAt:$expiresAt){secret key{id name disclosure expiresAt roles{id name}}}}",
};

export const revokeKeyMutation: Operation<RevokeKeyMutation, RevokeKeyMutationVariables> = {
  text: "mutation RevokeKey($workspace:ID!$key:String!$ifVersion:Int){revokeKey(workspace:$workspace key:$key ifVersion:$ifVersion){id name hint lastUsedAt}}",
};

export const toolsOfWorkspaceQuery: Operation<ToolsOfWorkspaceQuery, ToolsOfWorkspaceQueryVariables> = {
  text: "query ToolsOfWorkspace($workspace:ID$first:Int$after:String){workspace(id:$workspace){tools(first:$first after:$after){nodes{id name originalName listed definition mcpServer{name}}pageInfo{next}}}}",
};

export const usageOfHourQuery: Operation<UsageOfHourQuery, UsageOfHourQueryVariables> = {
  text: "query UsageOfHour($workspace:ID$from:Float!$to:Float!$first:Int$after:String){workspace(id:$workspace){usage(from:$from to:$to first:$first after:$after){nodes{keyId tool skill mcpServer}pageInfo{next}}}}",
};

export const runtimesQuery: Operation<RuntimesQuery, RuntimesQueryVariables> = {
  text: "query Runtimes($workspace:ID$first:Int$after:String){workspace(id:$workspace){runtimes(first:$first after:$after){nodes{...Runtime}pageInfo{next}}}}fragment Runtime on Runtime{id name platform available lastHeartbeatAt versions sandboxes}",
};

export const platformRuntimesQuery: Operation<PlatformRuntimesQuery, PlatformRuntimesQueryVariables> = {
  text: "query PlatformRuntimes($first:Int$after:String){platformRuntimes(first:$first after:$after){nodes{...Runtime}pageInfo{next}}}fragment Runtime on Runtime{id name platform available lastHeartbeatAt versions sandboxes}",
};

export const registerRuntimeMutation: Operation<RegisterRuntimeMutation, RegisterRuntimeMutationVariables> = {
  text: "mutation RegisterRuntime($workspace:ID!$name:String!){registerRuntime(workspace:$workspace name:$name){secret busServers overlapEndsAt runtime{id name}}}",
};

export const revokeRuntimeMutation: Operation<RevokeRuntimeMutation, RevokeRuntimeMutationVariables> = {
  text: "mutation RevokeRuntime($workspace:ID!$id:ID!$ifUsedBy:[ID!]){revokeRuntime(workspace:$workspace id:$id ifUsedBy:$ifUsedBy)}",
};

export const toolsQuery: Operation<ToolsQuery, ToolsQueryVariables> = {
  text: "query Tools($workspace:ID$first:Int$after:String$search:String){workspace(id:$workspace){tools(first:$first after:$after search:$search){nodes{...Tool mcpServer{name status}}pageInfo{next}}}}fragment Tool on Tool{name originalName description listed}",
};

export const activityQuery: Operation<ActivityQuery, ActivityQueryVariables> = {
  text: "query Activity($workspace:ID$first:Int$after:String){workspace(id:$workspace){activity(first:$first after:$after){nodes{at actorName action subjectKind subjectName changes}pageInfo{next}}}}",
};

export const usageQuery: Operation<UsageQuery, UsageQueryVariables> = {
  text: "query Usage($workspace:ID$from:Float$first:Int$after:String){workspace(id:$workspace){usage(from:$from first:$first after:$after){nodes{hour key tool skill mcpServer calls errors durationMs}pageInfo{next}}}}",
};

export const callSumsQuery: Operation<CallSumsQuery, CallSumsQueryVariables> = {
  text: "query CallSums($from:Float$first:Int$after:String){workspaces(first:$first after:$after){nodes{usage(from:$from){nodes{calls errors}pageInfo{next}}}pageInfo{next}}}",
};

export const healthOfPlatformRuntimesQuery: Operation<HealthOfPlatformRuntimesQuery, HealthOfPlatformRuntimesQueryVariables> = {
  text: "query HealthOfPlatformRuntimes($first:Int$after:String){platformRuntimes(first:$first after:$after){nodes{...RuntimeHealth}pageInfo{next}}}fragment RuntimeHealth on Runtime{id name available sandboxes}",
};

export const healthOfMailQuery: Operation<HealthOfMailQuery, HealthOfMailQueryVariables> = {
  text: "query HealthOfMail{mail{...MailHealth}}fragment MailHealth on Mail{waiting failed unsure oldestAt lastError}",
};

export const healthOfWorkspacesQuery: Operation<HealthOfWorkspacesQuery, HealthOfWorkspacesQueryVariables> = {
  text: "query HealthOfWorkspaces($first:Int$after:String){workspaces(first:$first after:$after){nodes{id name mcpServers(first:$first){nodes{...McpServerHealth}pageInfo{next}}runtimes(first:$first){nodes{...RuntimeHealth}pageInfo{next}}}pageInfo{next}}}fragment Problem on Reason{code message repair}fragment McpServerHealth on McpServer{id name status health reason{...Problem}sandboxes}fragment RuntimeHealth on Runtime{id name available sandboxes}",
};

export const healthOfMcpServersQuery: Operation<HealthOfMcpServersQuery, HealthOfMcpServersQueryVariables> = {
  text: "query HealthOfMcpServers($workspace:ID$first:Int$after:String){workspace(id:$workspace){mcpServers(first:$first after:$after){nodes{...McpServerHealth}pageInfo{next}}}}fragment Problem on Reason{code message repair}fragment McpServerHealth on McpServer{id name status health reason{...Problem}sandboxes}",
};

export const healthOfRuntimesQuery: Operation<HealthOfRuntimesQuery, HealthOfRuntimesQueryVariables> = {
  text: "query HealthOfRuntimes($workspace:ID$first:Int$after:String){workspace(id:$workspace){runtimes(first:$first after:$after){nodes{...RuntimeHealth}pageInfo{next}}}}fragment RuntimeHealth on Runtime{id name available sandboxes}",
};

export const liveMcpServersQuery: Operation<LiveMcpServersQuery, LiveMcpServersQueryVariables> = {
  text: "query LiveMcpServers($workspace:ID$first:Int$after:String){workspace(id:$workspace){mcpServers(first:$first after:$after){nodes{...LiveMcpServer}pageInfo{next}}}}fragment LiveMcpServer on McpServer{id name enabled startTimeout callTimeout version launch{command args cwd url env{name value}headers{name value}settings{name title description secret required}fingerprint setBy}runtimes{name platform}}",
};

export const liveSkillsQuery: Operation<LiveSkillsQuery, LiveSkillsQueryVariables> = {
  text: "query LiveSkills($workspace:ID$first:Int$after:String){workspace(id:$workspace){skills(first:$first after:$after){nodes{...LiveSkill}pageInfo{next}}}}fragment LiveSkill on Skill{id name description instructions version namedTools(first:1000){originalName mcpServer{name}}patterns{pattern mcpServer{name}}}",
};

export const liveRolesQuery: Operation<LiveRolesQuery, LiveRolesQueryVariables> = {
  text: "query LiveRoles($workspace:ID$first:Int$after:String){workspace(id:$workspace){roles(first:$first after:$after){nodes{...LiveRole}pageInfo{next}}}}fragment RoleLimits on Role{readOnly rules(first:100){effect tool mcpServer{name}}}fragment LiveRole on Role{id name description enabled version ...RoleLimits skills(first:1000){id name}}",
};

export const runtimeNamesQuery: Operation<RuntimeNamesQuery, RuntimeNamesQueryVariables> = {
  text: "query RuntimeNames($workspace:ID){workspace(id:$workspace){runtimes{nodes{name}}}platformRuntimes{nodes{name}}}",
};

export const judgeLaunchQuery: Operation<JudgeLaunchQuery, JudgeLaunchQueryVariables> = {
  text: "query JudgeLaunch($workspace:ID$name:String!$launch:LaunchInput!){workspace(id:$workspace){launchFingerprint(launch:$launch mcpServer:$name)launchRefusal(launch:$launch mcpServer:$name)mcpServer(name:$name){changedSettings(launch:$launch)}}}",
};

export const mcpServersAppliedQuery: Operation<McpServersAppliedQuery, McpServersAppliedQueryVariables> = {
  text: "query McpServersApplied($workspace:ID$first:Int$after:String){workspace(id:$workspace){mcpServers(first:$first after:$after){nodes{name enabled status reason{...Problem}runtimes{available}}pageInfo{next}}}}fragment Problem on Reason{code message repair}",
};

export const skillsAppliedQuery: Operation<SkillsAppliedQuery, SkillsAppliedQueryVariables> = {
  text: "query SkillsApplied($workspace:ID$first:Int$after:String){workspace(id:$workspace){skills(first:$first after:$after){nodes{name reason{...Problem}}pageInfo{next}}}}fragment Problem on Reason{code message repair}",
};

export const completeIntegrationsQuery: Operation<CompleteIntegrationsQuery, CompleteIntegrationsQueryVariables> = {
  text: "query CompleteIntegrations($workspace:String){workspace(name:$workspace){integrations(first:100){nodes{mcpServer{name}}}}}",
};

export const completeMcpServersQuery: Operation<CompleteMcpServersQuery, CompleteMcpServersQueryVariables> = {
  text: "query CompleteMcpServers($workspace:String$search:String){workspace(name:$workspace){mcpServers(first:100 search:$search){nodes{name}}}}",
};

export const completeToolsQuery: Operation<CompleteToolsQuery, CompleteToolsQueryVariables> = {
  text: "query CompleteTools($workspace:String$server:String){workspace(name:$workspace){mcpServer(name:$server){tools(first:100){nodes{originalName}}}}}",
};

export const completeSkillsQuery: Operation<CompleteSkillsQuery, CompleteSkillsQueryVariables> = {
  text: "query CompleteSkills($workspace:String$search:String){workspace(name:$workspace){skills(first:100 search:$search){nodes{name}}}}",
};

export const completeRolesQuery: Operation<CompleteRolesQuery, CompleteRolesQueryVariables> = {
  text: "query CompleteRoles($workspace:String$search:String){workspace(name:$workspace){roles(first:100 search:$search){nodes{name}}}}",
};

export const completeKeysQuery: Operation<CompleteKeysQuery, CompleteKeysQueryVariables> = {
  text: "query CompleteKeys($workspace:String$search:String){workspace(name:$workspace){keys(first:100 search:$search){nodes{name state}}}}",
};

export const completeRuntimesQuery: Operation<CompleteRuntimesQuery, CompleteRuntimesQueryVariables> = {
  text: "query CompleteRuntimes($workspace:String){workspace(name:$workspace){runtimes(first:100){nodes{name}}}}",
};

export const completeWorkspacesQuery: Operation<CompleteWorkspacesQuery, CompleteWorkspacesQueryVariables> = {
  text: "query CompleteWorkspaces($search:String){workspaces(first:100 search:$search){nodes{name}}}",
};
