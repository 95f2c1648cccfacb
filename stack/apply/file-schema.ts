import { z } from 'zod';
import { SvcError } from '../../services/contracts/errors.ts';
import { type NameKind, parseDescription, parseName } from '../../services/contracts/names.ts';
import { skillsOfRoleMax, toolNameLengthMax, toolsOfSkillMax } from '../../services/contracts/workspace-limits.ts';
import { fields } from '../settings/mistakes.ts';

/** One file as written. Errors are rules, in words that follow "must be". */

const text = (rule: string) => z.string({ error: rule }).min(1, { error: rule });
/** A longer list is a mistake; the platform's limits are checked for all files together. */
const listMax = 100_000;
const list = <Item extends z.ZodType>(item: Item, rule: string, lengthMax = listMax) =>
  z
    .array(item, { error: rule })
    .max(lengthMax, { error: `${rule}, at most ${lengthMax.toLocaleString('en')} of them` });

/** A text that follows the backend's rule, which explains a mistake in a sentence. */
const kept = (rule: string, parse: (text: string) => string) =>
  z.string({ error: rule }).transform((given, context) => {
    try {
      return parse(given);
    } catch (error) {
      if (!(error instanceof SvcError)) throw error;
      context.addIssue({ code: 'custom', message: error.message });
      return z.NEVER;
    }
  });
const name = (kind: NameKind, rule: string) => kept(rule, (given) => parseName(kind, given));
const description = kept('a text', parseDescription);
const trueOrFalse = z.boolean({ error: 'true or false' });

const scalar = z.union([z.string(), z.number(), z.boolean()]).transform(String);
/** A value, or its source: secrets stay out of the file. */
const setting = z.union([scalar, fields({ fromEnv: z.string().min(1) }, '{ fromEnv: NAME }')], {
  error: 'a text, or { fromEnv: NAME }',
});
export type Setting = z.infer<typeof setting>;
const settings = z.record(z.string(), setting, { error: 'names with their values' });

const mcpServer = fields(
  {
    command: text('the command to run, in quotes where YAML takes it for something else').optional(),
    args: list(scalar, 'a list of texts').optional(),
    cwd: text('a folder, relative to this file').optional(),
    env: settings.optional(),
    envFile: text('a file of NAME=value lines, relative to this file').optional(),
    url: text('the URL of an MCP server').optional(),
    headers: settings.optional(),
    runtime: name('runtime', 'the name of a runtime').optional(),
    enabled: trueOrFalse.default(true),
  },
  'fields such as command or url',
);
export type McpServerInFile = z.infer<typeof mcpServer>;

const toolRule = 'MCPSERVER/TOOL, such as files/read_file';
const longTool = new RegExp(`^(?![^/]*/.{${toolNameLengthMax + 1}})`, 's');
const toolName = z
  .string({ error: toolRule })
  .regex(/^[^/]+\/.+$/s, { error: toolRule })
  .regex(longTool, { error: `${toolRule}, with at most ${toolNameLengthMax} characters after the /` });

const skill = fields(
  {
    name: name('skill', 'the name of the skill').optional(),
    description: description.optional(),
    instructions: text('a file with instructions, relative to this file').optional(),
    from: text('a folder with a SKILL.md, relative to this file').optional(),
    tools: list(toolName, 'a list of tools', toolsOfSkillMax).default([]),
  },
  'fields such as name and tools',
);
export type SkillInFile = z.infer<typeof skill>;

const role = fields(
  {
    name: name('role', 'the name of the role'),
    description: description.default(''),
    enabled: trueOrFalse.default(true),
    skills: list(text('the name of a skill'), 'a list of names of skills', skillsOfRoleMax).default([]),
  },
  'fields such as name and skills',
);

/** A name without a value counts as missing. */
const section = <Schema extends z.ZodType>(schema: Schema, usual: z.output<Schema>) =>
  schema.nullish().transform((given) => given ?? usual);

export const applyFile = fields(
  {
    workspace: section(name('workspace', 'the name of a workspace'), 'Default'),
    mcpServers: section(z.record(z.string(), mcpServer, { error: 'MCP servers by name' }), {}),
    skills: section(list(skill, 'a list of skills'), []),
    roles: section(list(role, 'a list of roles'), []),
  },
  'fields: workspace, mcpServers, skills, roles',
);
export type FileContent = z.output<typeof applyFile>;
