import { z } from 'zod';
import { health, ownDeadlines, reason, serverStatus } from './bus/messages.ts';
import { id } from './id-schema.ts';
import { toolRuleEffects } from './tool-rules.ts';

/**
 * remote-mcp's view of a workspace. `GET {backend}/internal/catalogue/<workspace>` answers lines of JSON
 * (application/x-ndjson), `head` first and `end` last, with an entity tag over both versions. A pull without `end` is
 * incomplete and discarded; with `?snapshot` it is never incomplete, and costs the backend more. With `?rules` remote-mcp
 * says that it applies the rules of roles; for an older remote-mcp, roles with rules are disabled.
 */

export const catalogueEntry = z.discriminatedUnion('entry', [
  z.object({
    entry: z.literal('head'),
    workspace: id('workspace'),
    name: z.string(),
    suspended: z.boolean(),
    version: z.number().int(),
    statusVersion: z.number().int(),
  }),
  z.object({
    entry: z.literal('mcpServer'),
    id: id('mcpServer'),
    name: z.string(),
    status: serverStatus,
    health,
    reason: reason.nullable(),
    nextRetryAt: z.number().nullable(),
    /** Names of the runtimes it is bound to; empty: the platform's own run it. */
    runtimes: z.array(z.string()),
    /** Processes in which it is Connected: possible destinations of calls. */
    processes: z.array(z.object({ runtime: id('runtime'), process: z.string() })),
    callTimeout: ownDeadlines.callTimeout,
  }),
  z.object({
    entry: z.literal('tool'),
    id: id('tool'),
    mcpServer: id('mcpServer'),
    /** The agent's name for the tool: unique in the workspace, never changed. */
    name: z.string(),
    /** The MCP server's name for the tool. */
    originalName: z.string(),
    /** The MCP server's description of the tool, as JSON text; `name` replaces its name in lists. */
    definition: z.string(),
  }),
  z.object({
    entry: z.literal('skill'),
    id: id('skill'),
    name: z.string(),
    description: z.string(),
    instructions: z.string(),
    tools: z.array(id('tool')),
    /** Tools of the skill that its MCP servers do not offer now, as MCPSERVER/TOOL. */
    missingTools: z.array(z.string()),
    mcpServers: z.array(id('mcpServer')),
    /** remote-mcp compares them with the tools of this catalogue. Absent from older backends. */
    patterns: z.array(z.object({ mcpServer: id('mcpServer'), pattern: z.string() })).default([]),
    /** In the order of their paths. Absent from older backends. */
    files: z.array(z.object({ id: id('file'), path: z.string(), sizeBytes: z.number().int() })).default([]),
  }),
  z.object({
    entry: z.literal('role'),
    id: id('role'),
    name: z.string(),
    description: z.string(),
    enabled: z.boolean(),
    skills: z.array(id('skill')),
    /** Which tools of its skills it lets pass (tool-rules.ts). Absent from older backends, which have no rules. */
    readOnly: z.boolean().default(false),
    rules: z
      .array(z.object({ effect: z.enum(toolRuleEffects), mcpServer: id('mcpServer'), pattern: z.string() }))
      .default([]),
  }),
  z.object({ entry: z.literal('end'), entries: z.number().int() }),
]);
export type CatalogueEntry = z.infer<typeof catalogueEntry>;

export const cataloguePath = '/internal/catalogue';
/** Largest catalogue: remote-mcp holds all of it in memory, and so does the backend with `?snapshot`. */
export const catalogueMaxBytes = 256 * 1024 * 1024;
/** `GET {backend}/internal/files/<workspace>/<file>` answers the bytes of a file, or a range of them. */
export const internalFilesPath = '/internal/files';
