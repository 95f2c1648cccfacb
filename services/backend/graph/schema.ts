import type { IdKind } from '../../contracts/ids.ts';

/**
 * The only place that names node types, fields, edges, uniqueness and indexes; each engine derives its storage from it.
 * A field is `text`, `integer`, `boolean` or `time` (milliseconds); `?` allows null. Every node has `id`, `version` (raised by every
 * update) and, where `owned`, `workspace`: the anchor that every query of it goes through.
 * `unique` holds per workspace for owned types; a combination with a null field is not checked. Each indexed or searched field costs
 * a further write per node, so only fields that select or order nodes are listed.
 */
export const schema = {
  workspace: {
    owned: false,
    fields: { name: 'text', suspended: 'boolean', revision: 'integer', statusRevision: 'integer', createdAt: 'time' },
    unique: [['name']],
    index: ['name', 'createdAt'],
    search: ['name'],
    edges: {},
  },
  user: {
    owned: false,
    fields: { email: 'text', name: 'text', signedInAt: 'time?', createdAt: 'time' },
    unique: [['email']],
    index: ['email'],
    search: ['email', 'name'],
    edges: {},
  },
  /** A browser in which a person is signed in. Its tokens are signed, so none is stored. */
  browserSession: {
    owned: false,
    /** `generation` counts the refresh tokens. `provenBy` and `provenAt`: how and when the person was last proven. */
    fields: {
      user: 'text',
      device: 'text',
      generation: 'integer',
      provenBy: 'text',
      provenAt: 'time',
      refreshedAt: 'time',
      expiresAt: 'time',
      createdAt: 'time',
    },
    unique: [],
    index: ['user', 'expiresAt'],
    search: [],
    edges: {},
  },
  /** A one-time link that signs a person in. It is removed when it is used. */
  signInLink: {
    owned: false,
    fields: { user: 'text', expiresAt: 'time', createdAt: 'time' },
    unique: [],
    index: ['user', 'expiresAt'],
    search: [],
    edges: {},
  },
  /** A password, as `accounts/passwords.ts` stores it. Never shown. */
  password: {
    owned: false,
    fields: { user: 'text', hash: 'text', createdAt: 'time' },
    unique: [['user']],
    index: [],
    search: [],
    edges: {},
  },
  /** A passkey (WebAuthn). `lastChallengeAt`: a response to an older challenge is a repeated one. */
  passkey: {
    owned: false,
    fields: {
      user: 'text',
      name: 'text',
      credentialId: 'text',
      publicKey: 'text',
      counter: 'integer',
      transports: 'text',
      lastChallengeAt: 'time?',
      lastUsedAt: 'time?',
      createdAt: 'time',
    },
    unique: [['credentialId']],
    index: ['user'],
    search: [],
    edges: {},
  },
  /** An agent's program that registered itself with the authorization server (RFC 7591). It has no secret. */
  oauthClient: {
    owned: false,
    /** `metadata` is a JSON object. An unused client expires a day after its registration. */
    fields: { clientId: 'text', metadata: 'text', expiresAt: 'time', createdAt: 'time' },
    unique: [['clientId']],
    index: ['expiresAt'],
    search: [],
    edges: {},
  },
  /** A code, refresh token, grant or interaction of the authorization server. */
  oauthRecord: {
    owned: false,
    /** `digest` stands for the record's id, which clients know. `grant`: the record of the grant of a code or token. */
    fields: {
      kind: 'text',
      digest: 'text',
      grant: 'text?',
      payload: 'text',
      expiresAt: 'time',
      consumedAt: 'time?',
    },
    unique: [['digest']],
    index: ['kind', 'grant', 'expiresAt'],
    search: [],
    edges: {},
  },
  /** The name of a person at an external OpenID provider. */
  identity: {
    owned: false,
    fields: { user: 'text', issuer: 'text', subject: 'text', createdAt: 'time' },
    unique: [
      ['issuer', 'subject'],
      ['issuer', 'user'],
    ],
    index: [],
    search: [],
    edges: {},
  },
  member: {
    owned: true,
    fields: { user: 'text', role: 'text', suspended: 'boolean', createdAt: 'time' },
    unique: [['user']],
    index: ['user', 'role', 'createdAt'],
    search: [],
    edges: { person: 'user' },
  },
  /** A person who may become a member. It is removed when it is accepted. Its token is signed, so it is not stored. */
  invitation: {
    owned: true,
    /** `invitedBy` is a user; null: an operator. */
    fields: { email: 'text', role: 'text', invitedBy: 'text?', expiresAt: 'time', createdAt: 'time' },
    unique: [['email']],
    index: ['email', 'expiresAt', 'createdAt'],
    search: [],
    edges: {},
  },
  role: {
    owned: true,
    /** `toolLimit`: `read_only`, or null for none. */
    fields: { name: 'text', description: 'text', enabled: 'boolean', toolLimit: 'text?', createdAt: 'time' },
    unique: [['name']],
    index: ['name', 'createdAt'],
    search: ['name', 'description'],
    edges: { skills: 'skill' },
  },
  /** A rule of a role: it allows or denies the tools of the MCP server that match. Compared when a tool is used. */
  toolRule: {
    owned: true,
    fields: { role: 'text', mcpServer: 'text', pattern: 'text', effect: 'text', createdAt: 'time' },
    unique: [['role', 'mcpServer', 'pattern']],
    index: ['role', 'mcpServer'],
    search: [],
    edges: { of: 'role', server: 'mcpServer' },
  },
  skill: {
    owned: true,
    fields: { name: 'text', description: 'text', instructions: 'text', createdAt: 'time' },
    unique: [['name']],
    index: ['name', 'createdAt'],
    search: ['name', 'description'],
    edges: { tools: 'tool' },
  },
  /** A file of a skill, at its path in the skill. */
  file: {
    owned: true,
    fields: { skill: 'text', path: 'text', digest: 'text', sizeBytes: 'integer', createdAt: 'time' },
    unique: [['skill', 'path']],
    index: ['skill', 'path', 'createdAt'],
    search: [],
    edges: { of: 'skill', content: 'blob' },
  },
  /** The bytes that files of any workspace share: guards whether they are kept. Never shown to users. */
  blob: {
    owned: false,
    /** `leaving`: the bytes are being removed. */
    fields: { digest: 'text', touchedAt: 'time', leaving: 'boolean' },
    unique: [['digest']],
    index: ['digest', 'touchedAt'],
    search: [],
    edges: {},
  },
  mcpServer: {
    owned: true,
    /**
     * `launch` is the encrypted launch; `configVersion` counts its changes. `tokenVersion` counts the access tokens of its
     * integration; null: it never had one. The timeouts are in seconds; null: those of the platform.
     */
    fields: {
      name: 'text',
      kind: 'text',
      launch: 'text',
      configVersion: 'integer',
      tokenVersion: 'integer?',
      enabled: 'boolean',
      startTimeout: 'integer?',
      callTimeout: 'integer?',
      createdAt: 'time',
    },
    unique: [['name']],
    index: ['name', 'createdAt'],
    search: ['name'],
    edges: { runtimes: 'runtime' },
  },
  /** The OAuth connection of one MCP server over HTTP to the authorization server that it names. */
  integration: {
    owned: true,
    /**
     * `client`, `pending` and `tokens` are encrypted: the client at the authorization server, the authorization that has
     * begun, and the tokens. `challenge`, `scopes`, `wantedScopes` and `problem` are JSON. `dueAt`: when its tokens are refreshed.
     */
    fields: {
      mcpServer: 'text',
      state: 'text',
      challenge: 'text?',
      issuer: 'text?',
      clientKind: 'text?',
      clientId: 'text?',
      client: 'text?',
      wantedScopes: 'text?',
      scopes: 'text?',
      pending: 'text?',
      tokens: 'text?',
      problem: 'text?',
      attempts: 'integer',
      dueAt: 'time?',
      expiresAt: 'time?',
      refreshedAt: 'time?',
      connectedAt: 'time?',
      createdAt: 'time',
    },
    unique: [['mcpServer']],
    index: ['state', 'dueAt', 'createdAt'],
    search: [],
    edges: { server: 'mcpServer' },
  },
  tool: {
    owned: true,
    /** `name` is given when the tool is first listed, and kept. Before, a tool that a skill names has none. */
    fields: {
      name: 'text?',
      originalName: 'text',
      mcpServer: 'text',
      definition: 'text?',
      listed: 'boolean',
      createdAt: 'time',
    },
    unique: [['name'], ['mcpServer', 'originalName']],
    index: ['name', 'mcpServer', 'createdAt'],
    search: ['originalName'],
    edges: { server: 'mcpServer' },
  },
  /** A pattern of a skill: listed tools of the MCP server that match it belong to the skill. Compared when it is read. */
  toolPattern: {
    owned: true,
    fields: { skill: 'text', mcpServer: 'text', pattern: 'text', createdAt: 'time' },
    unique: [['skill', 'mcpServer', 'pattern']],
    index: ['skill', 'mcpServer'],
    search: [],
    edges: { of: 'skill', server: 'mcpServer' },
  },
  key: {
    owned: true,
    /**
     * `activeName` equals `name` until the key is revoked or replaced, which frees the name. `disclosure`: null in keys
     * of older installations. `replaces`: the key that a rotation ends. `client`: the OAuth client of a connected agent,
     * whose key has no text; null in every other key. `grant`: the record of that agent's grant. A revoked key has a
     * `formerUser` instead of a `user`.
     */
    fields: {
      name: 'text',
      activeName: 'text?',
      digest: 'text',
      ciphertext: 'text',
      hint: 'text',
      allRoles: 'boolean',
      disclosure: 'text?',
      replaces: 'text?',
      client: 'text?',
      grant: 'text?',
      expiresAt: 'time?',
      revokedAt: 'time?',
      firstUsedAt: 'time?',
      lastUsedAt: 'time?',
      createdAt: 'time',
    },
    unique: [['activeName']],
    uniqueEverywhere: [['digest']],
    index: ['name', 'createdAt'],
    search: ['name'],
    edges: { user: 'user', formerUser: 'user', roles: 'role' },
  },
  runtime: {
    owned: false,
    /** `home` is the workspace of a customer's runtime, or `platform` for runtimes that serve all workspaces. */
    fields: { name: 'text', home: 'text', lastHeartbeatAt: 'time?', revokedAt: 'time?', createdAt: 'time' },
    unique: [['home', 'name']],
    index: ['home', 'name', 'createdAt'],
    search: ['name'],
    edges: {},
  },
  runtimeKey: {
    owned: false,
    fields: {
      runtime: 'text',
      digest: 'text',
      ciphertext: 'text',
      hint: 'text',
      expiresAt: 'time?',
      createdAt: 'time',
    },
    unique: [['digest']],
    index: ['runtime'],
    search: [],
    edges: { of: 'runtime' },
  },
  systemKey: {
    owned: false,
    /** `component` is remote-mcp or runtime; `runtimeNames` is a JSON list of the names a runtime may take. */
    fields: {
      component: 'text',
      digest: 'text',
      ciphertext: 'text',
      hint: 'text',
      runtimeNames: 'text',
      createdAt: 'time',
    },
    unique: [['digest']],
    index: ['component'],
    search: [],
    edges: {},
  },
  /** The status that one runtime process reports of one MCP server. It raises `statusRevision`, not `revision`. */
  status: {
    owned: true,
    /** `toolsReason`: a problem with the list of tools, beside the reason of the status. */
    fields: {
      mcpServer: 'text',
      runtime: 'text',
      process: 'text',
      configVersion: 'integer',
      status: 'text',
      health: 'text',
      reason: 'text?',
      toolsReason: 'text?',
      stderr: 'text',
      restarts: 'integer',
      startedAt: 'time?',
      nextRetryAt: 'time?',
    },
    unique: [['mcpServer', 'runtime', 'process']],
    index: ['mcpServer', 'runtime', 'process'],
    search: [],
    edges: { server: 'mcpServer' },
  },
  activity: {
    owned: true,
    fields: {
      at: 'time',
      actor: 'text',
      actorName: 'text',
      action: 'text',
      subject: 'text',
      subjectKind: 'text',
      subjectName: 'text',
      changes: 'text',
    },
    unique: [],
    index: ['at'],
    search: [],
    edges: {},
  },
  /** Calls of one hour by key, skill and tool. */
  usage: {
    owned: true,
    fields: {
      hour: 'time',
      key: 'text',
      tool: 'text',
      skill: 'text?',
      slot: 'text',
      mcpServer: 'text',
      calls: 'integer',
      errors: 'integer',
      durationMs: 'integer',
    },
    unique: [['slot']],
    index: ['hour', 'skill'],
    search: [],
    edges: {},
  },
  setting: {
    owned: false,
    fields: { name: 'text', value: 'text' },
    unique: [['name']],
    index: ['name'],
    search: [],
    edges: {},
  },
  /** A mail to send, and for some days its outcome. Never shown to users. */
  mail: {
    owned: false,
    /**
     * `slot` bounds the mail to one address: a digest of it and a number. Fewer turns go first, so that much mail of one
     * `source` does not delay others. `author`: the person who caused it; null for an operator and for a person's own
     * mail. `dueAt`: the next attempt or, while the mail is being sent, the end of the claim. `content` is encrypted, and
     * null once the mail is not sent any more.
     */
    fields: {
      slot: 'text',
      source: 'text',
      author: 'text?',
      state: 'text',
      turn: 'integer',
      dueAt: 'time',
      content: 'text?',
      attempts: 'integer',
      lastError: 'text?',
      expiresAt: 'time',
      createdAt: 'time',
    },
    unique: [['slot']],
    index: ['slot', 'source', 'author', 'state', 'turn', 'dueAt'],
    search: [],
    edges: {},
  },
} as const satisfies Record<string, NodeType>;

export interface NodeType {
  readonly owned: boolean;
  readonly fields: Readonly<Record<string, FieldKind>>;
  readonly unique: readonly (readonly string[])[];
  /** Unique over all workspaces, for owned types. */
  readonly uniqueEverywhere?: readonly (readonly string[])[];
  readonly index: readonly string[];
  readonly search: readonly string[];
  readonly edges: Readonly<Record<string, string>>;
}

export type FieldKind = 'text' | 'integer' | 'boolean' | 'time' | 'text?' | 'integer?' | 'time?';
export type Schema = typeof schema;
export type TypeName = keyof Schema;

/** The kind of id of each type. */
export const idKindOf = {
  workspace: 'workspace',
  user: 'user',
  member: 'member',
  role: 'role',
  toolRule: 'toolRule',
  skill: 'skill',
  mcpServer: 'mcpServer',
  integration: 'integration',
  tool: 'tool',
  toolPattern: 'toolPattern',
  key: 'key',
  runtime: 'runtime',
  runtimeKey: 'key',
  systemKey: 'systemKey',
  status: 'status',
  activity: 'activity',
  usage: 'usage',
  setting: 'setting',
  file: 'file',
  blob: 'blob',
  browserSession: 'browserSession',
  signInLink: 'signInLink',
  invitation: 'invitation',
  mail: 'mail',
  password: 'password',
  passkey: 'passkey',
  oauthClient: 'oauthClient',
  oauthRecord: 'oauthRecord',
  identity: 'identity',
} as const satisfies Record<TypeName, IdKind>;
