import { z } from 'zod';

/** One file as it is written. Errors are rules, in words that follow "must be". */

const text = (rule = 'a text') => z.string({ error: rule }).min(1, { error: rule });
const listMax = 10_000;
const list = <Item extends z.ZodType>(item: Item, rule: string) =>
  z.array(item, { error: rule }).max(listMax, { error: rule });

const scalar = z.union([z.string(), z.number(), z.boolean()]).transform(String);
/** A value, or where it comes from: secrets stay out of the file. */
const setting = z.union([scalar, z.strictObject({ fromEnv: z.string().min(1) })], {
  error: 'a text, or { fromEnv: NAME }',
});
export type Setting = z.infer<typeof setting>;
const settings = z.record(z.string(), setting, { error: 'names with their values' });

const mcpServer = z.strictObject(
  {
    command: text('the command to run').optional(),
    args: list(scalar, 'a list of texts').optional(),
    cwd: text('a folder, relative to this file').optional(),
    env: settings.optional(),
    envFile: text('a file of NAME=value lines, relative to this file').optional(),
    url: text('the URL of an MCP server').optional(),
    headers: settings.optional(),
    runtime: text('the name of a runtime').optional(),
    enabled: z.boolean({ error: 'true or false' }).optional(),
  },
  { error: 'fields such as command or url' },
);
export type McpServerInFile = z.infer<typeof mcpServer>;

const toolRule = 'MCPSERVER/TOOL, such as files/read_file';
const toolName = z.string({ error: toolRule }).regex(/^[^/]+\/.+$/, { error: toolRule });

const skill = z.strictObject(
  {
    name: text('the name of the skill').optional(),
    description: z.string({ error: 'a text' }).optional(),
    instructions: text('a file with instructions, relative to this file').optional(),
    from: text('a folder with a SKILL.md, relative to this file').optional(),
    tools: list(toolName, 'a list of tools').optional(),
  },
  { error: 'fields such as name and tools' },
);
export type SkillInFile = z.infer<typeof skill>;

const role = z.strictObject(
  {
    name: text('the name of the role'),
    description: z.string({ error: 'a text' }).optional(),
    enabled: z.boolean({ error: 'true or false' }).optional(),
    skills: list(text('the name of a skill'), 'a list of names of skills').optional(),
  },
  { error: 'fields such as name and skills' },
);

export const applyFile = z.strictObject(
  {
    workspace: text('the name of a workspace').default('Default'),
    mcpServers: z.record(z.string(), mcpServer, { error: 'MCP servers by name' }).default({}),
    skills: list(skill, 'a list of skills').default([]),
    roles: list(role, 'a list of roles').default([]),
  },
  { error: 'fields: workspace, mcpServers, skills, roles' },
);
export type ApplyFile = z.infer<typeof applyFile>;

/** The fields that may stand where an unknown one was found. */
export function knownFields(path: readonly PropertyKey[]): readonly string[] {
  const shapes: Readonly<Record<string, object>> = {
    mcpServers: mcpServer.shape,
    skills: skill.shape,
    roles: role.shape,
  };
  const [section] = path;
  if (section === undefined) return Object.keys(applyFile.shape);
  return path.length === 2 ? Object.keys(shapes[String(section)] ?? {}) : ['fromEnv'];
}
