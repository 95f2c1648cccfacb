import { z } from 'zod';
import { id } from '../id-schema.ts';
import { defaultDisclosure, keyDisclosures } from '../key-disclosure.ts';
import { tokenLengthMax } from '../keys.ts';
import { authors } from '../sandbox.ts';
import { isShownName, shownLine, shownText } from '../shown-text.ts';
import { toolNameLengthMax } from '../workspace-limits.ts';

/**
 * Parsers for the bodies of low-rate messages; their receiver parses them. Calls are headers and raw bytes (see
 * call.ts).
 */
const shortText = z.string().max(255);
const time = z.number().int().nonnegative();

/** The description that a program sends of itself, on one line. */
const shownWord = shortText.transform((text) => shownLine(text, 255));

/** Longest texts of a report that people read. A runtime cuts longer ones; the backend refuses them. */
export const reportLengths = { message: 4000, repair: 1000, stderrLine: 1000 } as const;
export const stderrLinesMax = 20;

/**
 * What an MCP server claims in its challenge (RFC 9728 §5.1, RFC 6750 §3): the address of its metadata, and the scopes
 * it needs. A claim that is too long or holds other characters is left out.
 */
const claim = z
  .string()
  .max(2048)
  .regex(/^[\x20-\x7e]*$/)
  .optional()
  .catch(undefined);
const challenge = z.object({ resourceMetadata: claim, scope: claim });
export type Challenge = z.infer<typeof challenge>;

/** The reason for a failure, and its repair. Never contains a secret. */
export const reason = z.object({
  code: shownWord,
  message: text(reportLengths.message),
  repair: text(reportLengths.repair),
  /** Only with the code `needs_authorization`. */
  challenge: challenge.optional(),
});
export type Reason = z.infer<typeof reason>;

/** Makes a reason valid for every reader: it may quote an MCP server, which can write anything. */
export function shownReason({ code, message, repair, challenge: claimed }: Reason): Reason {
  return {
    code: shownLine(code, 255),
    message: shownText(message, reportLengths.message),
    repair: shownText(repair, reportLengths.repair),
    ...(claimed === undefined ? {} : { challenge: challenge.parse(claimed) }),
  };
}

function text(lengthMax: number) {
  return z
    .string()
    .max(lengthMax)
    .transform((given) => shownText(given, lengthMax));
}

// Identity

/** Homes that one handshake may ask about; the next one asks about the next ones. */
export const homesMax = 500;

/** The longest texts and all homes take less than half of it. */
export const handshakeMaxBytes = 128 * 1024;
export const handshakeRequest = z.object({
  /** Version of the runtime's program. */
  version: shownWord,
  /** The setting MCP_SERVER_SANDBOX of this process. */
  sandbox: shownWord.optional(),
  /** HOME of operators' commands that no sandbox confines: `user` or `own`. Absent from older runtimes: `own`. */
  home: shownWord.optional(),
  /**
   * Whether it confines MCP servers that members set (`setBy` of an assignment). A runtime without this flag gets no
   * launch of a member.
   */
  confinesMembers: z.boolean().optional(),
  /** X25519 public key of this process; assignments are sealed to it. */
  publicKey: z.object({ kty: z.literal('OKP'), crv: z.literal('X25519'), x: z.string().max(64) }),
  /** The assignments the process already has; an equal etag is answered without them. */
  etag: shortText.optional(),
  /** MCP servers whose home this runtime keeps without an assignment: disabled, bound to another runtime, or removed. */
  homes: z.array(id('mcpServer')).max(homesMax).optional(),
});
export type HandshakeRequest = z.infer<typeof handshakeRequest>;

export const handshakeReply = z.object({
  mcpUrl: z.string(),
  /** The platform's time, with which a runtime compares its clock. Absent from older backends. */
  at: time.optional(),
  etag: shortText,
  /** Compact JWE over an `Assigned[]`; absent when the etag is unchanged. */
  sealed: z.string().optional(),
  /** Those of `homes` that no longer exist: their ids are never used again. */
  removed: z.array(id('mcpServer')).max(homesMax).optional(),
});
export type HandshakeReply = z.infer<typeof handshakeReply>;

const settings = z.record(z.string().max(4096), z.string().max(65_536));

/** How an MCP server is reached: as a child process, or over HTTP. */
export const launch = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('child'),
    command: z.string().min(1).max(4096),
    args: z.array(z.string().max(65_536)).max(1000),
    cwd: z.string().max(4096).nullable(),
    env: settings,
  }),
  z.object({ kind: z.literal('http'), url: z.string().max(4096), headers: settings }),
]);
export type Launch = z.infer<typeof launch>;

/** Absent from older backends; without one the setting of the platform applies. */
const seconds = z.number().int().positive().max(86_400).nullable().optional();
export const ownDeadlines = { startTimeout: seconds, callTimeout: seconds };

/** Longer ones are refused: requests with such headers fail at many HTTP servers. */
export const accessTokenLengthMax = 8192;

/** An MCP server for a runtime to run, with its secrets: it is only sent sealed. */
export const assignment = z.object({
  mcpServer: id('mcpServer'),
  workspace: id('workspace'),
  name: shortText,
  configVersion: z.number().int().nonnegative(),
  launch,
  /** The author of the launch. Absent: an operator, as in older backends. */
  setBy: z.enum(authors).optional(),
  /** The value of the header Authorization, for kind http. It is renewed without another configVersion. */
  authorization: z
    .string()
    .max(accessTokenLengthMax + 16)
    .optional(),
  ...ownDeadlines,
});
export type Assignment = z.infer<typeof assignment>;

/**
 * An assignment the runtime must not run but must report: the command rule was narrowed since it was added. The launch
 * stays in the backend.
 */
export const refusedAssignment = assignment.omit({ launch: true, setBy: true }).extend({ refused: reason });
export type RefusedAssignment = z.infer<typeof refusedAssignment>;
const assigned = z.union([assignment, refusedAssignment]);
export type Assigned = z.infer<typeof assigned>;
/** MCP servers that one runtime runs. */
export const assignmentsMax = 10_000;
export const assignments = z.array(assigned).max(assignmentsMax);

export const helloReply = z.object({ backendUrl: z.string(), mcpUrl: z.string() });
export type HelloReply = z.infer<typeof helloReply>;

/** JSON writes one character of a key with six bytes at most. */
export const keyRequestMaxBytes = 4096;
export const keyRequest = z.object({ key: z.string().max(tokenLengthMax) });

/** The owner of a key. `roles` null means every role of the workspace. */
export const principal = z.object({
  key: id('key'),
  keyName: shortText,
  user: id('user'),
  workspace: id('workspace'),
  workspaceName: shortText,
  suspended: z.boolean(),
  roles: z.array(id('role')).nullable(),
  /** Absent from older backends. */
  disclosure: z.enum(keyDisclosures).default(defaultDisclosure),
  expiresAt: time.nullable(),
  /** An operator, or a member who tries tools: may call every tool of the workspace. Absent from older backends. */
  operator: z.boolean().optional(),
  /** A connected agent whose person lets it use tools that change nothing. Absent from older backends. */
  readOnly: z.boolean().optional(),
});
export type Principal = z.infer<typeof principal>;

export const keyReply = z.discriminatedUnion('ok', [
  z.object({ ok: z.literal(true), principal }),
  z.object({ ok: z.literal(false), refusal: z.enum(['unknown', 'expired', 'revoked']), at: time.nullable() }),
]);
export type KeyReply = z.infer<typeof keyReply>;

// Reports of runtimes

export const serverStatus = z.enum(['Connected', 'Disconnected', 'Error']);
export type ServerStatus = z.infer<typeof serverStatus>;
export const health = z.enum(['green', 'yellow', 'red']);
export type Health = z.infer<typeof health>;

/** Tools of one MCP server in a report. */
export const reportedToolsMax = 20_000;
export const definitionLengthMax = 1_048_576;

export const reportedTool = z.object({
  name: z.string().min(1).max(toolNameLengthMax).refine(isShownName),
  /** The tool as the MCP server described it, as JSON text: it is passed on unparsed. */
  definition: z
    .string()
    .max(definitionLengthMax)
    .refine((json) => json.isWellFormed()),
});
export type ReportedTool = z.infer<typeof reportedTool>;

export const serverReport = z.object({
  mcpServer: id('mcpServer'),
  configVersion: z.number().int().nonnegative(),
  status: serverStatus,
  health,
  reason: reason.nullable(),
  restarts: z.number().int().nonnegative(),
  startedAt: time.nullable(),
  nextRetryAt: time.nullable(),
  /** Last lines of stderr, for people; at most 20 lines. */
  stderr: z.array(text(reportLengths.stderrLine)).max(stderrLinesMax),
  /**
   * Present when the list of tools is new or changed: the number of tools that follow the report (see report-lines.ts).
   */
  tools: z.number().int().nonnegative().max(reportedToolsMax).optional(),
});
export type ServerReport = z.infer<typeof serverReport>;

/** `complete` reports list every MCP server of the process; an absent one no longer runs. */
export const reportedServersMax = 10_000;
export const report = z.object({ complete: z.boolean(), mcpServers: z.array(serverReport).max(reportedServersMax) });
export type Report = z.infer<typeof report>;

/**
 * `refused`: MCP servers that do not belong to this runtime (any more). `faults`: refused parts of a single MCP server,
 * with the reason; sending them again is useless. All other parts are stored.
 */
export const reportReply = z.object({
  refused: z.array(id('mcpServer')),
  faults: z.array(z.object({ mcpServer: id('mcpServer'), why: z.string() })).optional(),
});
export type ReportReply = z.infer<typeof reportReply>;

/**
 * Range of HEARTBEAT_INTERVAL. A sender with another interval is held to the nearest bound, so that its silence is
 * always noticed.
 */
export const heartbeatIntervals = { minMs: 50, maxMs: 60_000 } as const;

export const heartbeat = z.object({
  at: time,
  /** Calls in progress, of all remote-mcps. */
  inFlight: z.number().int().nonnegative(),
  intervalMs: z
    .number()
    .int()
    .positive()
    .transform((ms) => Math.min(Math.max(ms, heartbeatIntervals.minMs), heartbeatIntervals.maxMs)),
  version: shownWord,
  sandbox: shownWord.optional(),
  /** As in the handshake. */
  home: shownWord.optional(),
});
export type Heartbeat = z.infer<typeof heartbeat>;

/**
 * From the backend to one runtime process. `assignments`: they changed, or the backend lost the process's reports. The
 * process fetches them (by etag), then sends a complete report with all tools.
 */
export const command = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('assignments') }),
  z.object({ kind: z.literal('restart'), mcpServer: id('mcpServer') }),
]);
export type Command = z.infer<typeof command>;

// Events and usage

/** Body of `svc.event.<workspace>.<kind>`: the versions after the change, and the key that was revoked or changed. */
export const event = z.object({
  version: z.number().int(),
  statusVersion: z.number().int(),
  key: id('key').optional(),
});
export type PlatformEvent = z.infer<typeof event>;

/**
 * The largest number of calls in one record: far more than a remote-mcp answers between two messages to the backend.
 */
export const usageCallsMax = 100_000;

export const usageRecord = z.object({
  workspace: id('workspace'),
  key: id('key'),
  /** When the key was used last. */
  at: time,
  /** Absent when the record only says that the key was used. */
  call: z
    .object({
      mcpServer: id('mcpServer'),
      tool: id('tool'),
      skill: id('skill').nullable(),
      outcome: z.enum(['ok', 'tool_error', 'error']),
      /** Calls of this hour that have all else in common. */
      calls: z.number().int().positive().max(usageCallsMax).default(1),
      /** The total of all these calls. */
      durationMs: z.number().nonnegative(),
    })
    .optional(),
});
export type UsageRecord = z.infer<typeof usageRecord>;
/** A record has at most 420 bytes. */
export const usageBatchMaxBytes = 1024 * 1024;
export const usageBatch = z.array(usageRecord).max(1000);
