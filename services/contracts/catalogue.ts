import { z } from 'zod';
import { health, reason, serverStatus } from './bus/messages.ts';
import { id } from './id-schema.ts';

/**
 * What remote-mcp knows of a workspace: `GET {backend}/internal/catalogue/<workspace>` answers it as lines of JSON
 * (application/x-ndjson), one entry a line, `head` first and `end` last, with an entity tag over both versions.
 * Lines, because ten thousand tools are then read in slices and nothing blocks calls meanwhile; a pull without `end` is
 * incomplete and thrown away. With `?snapshot` it is never incomplete, and costs the backend more.
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
    /** Names of the runtimes it is bound to; none: the platform's own run it. */
    runtimes: z.array(z.string()),
    /** Processes in which it is Connected: where calls can go. */
    processes: z.array(z.object({ runtime: id('runtime'), process: z.string() })),
  }),
  z.object({
    entry: z.literal('tool'),
    id: id('tool'),
    mcpServer: id('mcpServer'),
    /** As the agent calls it: given once, unique in the workspace. */
    name: z.string(),
    /** As the MCP server calls it. */
    originalName: z.string(),
    /** The MCP server's own description of it, as JSON text; its name is replaced by `name` when listed. */
    definition: z.string(),
  }),
  z.object({
    entry: z.literal('skill'),
    id: id('skill'),
    name: z.string(),
    description: z.string(),
    instructions: z.string(),
    tools: z.array(id('tool')),
    /** Tools a skill asks for that its MCP servers don't offer now, as MCPSERVER/TOOL. */
    missingTools: z.array(z.string()),
    mcpServers: z.array(id('mcpServer')),
    /** In the order of their paths. An older backend knows of none. */
    files: z.array(z.object({ id: id('file'), path: z.string(), sizeBytes: z.number().int() })).default([]),
  }),
  z.object({
    entry: z.literal('role'),
    id: id('role'),
    name: z.string(),
    description: z.string(),
    enabled: z.boolean(),
    skills: z.array(id('skill')),
  }),
  z.object({ entry: z.literal('end'), entries: z.number().int() }),
]);
export type CatalogueEntry = z.infer<typeof catalogueEntry>;

export const cataloguePath = '/internal/catalogue';
/** remote-mcp takes no more: it holds all of it in memory, and so does the backend with `?snapshot`. */
export const catalogueMaxBytes = 256 * 1024 * 1024;
/** `GET {backend}/internal/files/<workspace>/<file>` answers the bytes of a file, or a range of them. */
export const internalFilesPath = '/internal/files';
