import { resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { z } from 'zod';
import type { EnvRecord } from '../../services/contracts/env/check.ts';
import { SvcError } from '../../services/contracts/errors.ts';
import { checkLaunch, type LaunchInput, type Setting } from '../../services/contracts/launch.ts';
import { type DeadlineName, deadlineRanges, deadlineRule } from '../../services/contracts/mcp-server-deadlines.ts';
import { type NameKind, parseDescription, parseName } from '../../services/contracts/names.ts';
import { findSecretWord, looksSecret } from '../../services/contracts/secret-words.ts';
import type { LaunchProblem } from '../../services/contracts/setting-rules.ts';
import { isToolPattern, parseToolPattern } from '../../services/contracts/tool-pattern.ts';
import {
  instructionsMaxBytes,
  rulesOfRoleMax,
  skillsOfRoleMax,
  toolNameLengthMax,
  toolsOfSkillMax,
} from '../../services/contracts/workspace-limits.ts';
import { fields } from '../settings/rules.ts';
import type { SkillFolder } from '../skills/skill-folder.ts';

/** What a file may refer to. */
export interface Surroundings {
  /** Relative names begin here. */
  readonly folder: string;
  readonly env: EnvRecord;
  /** Reads a file by its name in the apply file. Throws an `SvcError`. */
  readonly read: (name: string, sizeMaxBytes: number) => string;
  /** Reads the folder of a skill by its name in the apply file. Throws an `SvcError`. */
  readonly readSkill: (name: string) => SkillFolder;
}

/** One file as written, which becomes what it asks for. Its errors follow "must be", or are sentences. */
export function applyFileSchema(surroundings: Surroundings) {
  return fields(
    {
      workspace: section(name('workspace', 'the name of a workspace'))
        .transform((given) => given ?? 'Default')
        .meta({ description: 'The workspace that the file describes. Default: Default.' }),
      mcpServers: section(
        z.record(z.string().transform(by(checkedName)), mcpServer(surroundings), { error: 'MCP servers by name' }),
      ).meta({ description: 'MCP servers by name: programs that offer tools.' }),
      skills: section(list(skill(surroundings), 'a list of skills')).meta({
        description: 'Skills: tools with instructions for using them.',
      }),
      roles: section(list(role, 'a list of roles')).meta({
        description: 'Roles: skills that agents with the role may use.',
      }),
    },
    'fields: workspace, mcpServers, skills, roles',
  );
}

export type FileContent = z.output<ReturnType<typeof applyFileSchema>>;

/** A name without a value counts as missing. */
function section<Schema extends z.ZodType>(schema: Schema) {
  return schema.nullish().transform((given) => given ?? undefined);
}

function text(rule: string) {
  return z.string({ error: rule }).min(1, { error: rule });
}

/** A longer list is a mistake; the platform's limits are checked for all files together. */
const listMax = 100_000;

function list<Item extends z.ZodType>(item: Item, rule: string, lengthMax = listMax) {
  const tooLong = `${rule}, at most ${lengthMax.toLocaleString('en')} of them`;
  return z.array(item, { error: rule }).max(lengthMax, { error: tooLong }).readonly();
}

/** A conversion that explains a mistake in a sentence, as the rules of the backend do. */
function by<Given, Result>(convert: (given: Given) => Result, path: readonly string[] = []) {
  return (given: Given, context: z.RefinementCtx): Result => {
    try {
      return convert(given);
    } catch (error) {
      if (!(error instanceof SvcError)) throw error;
      context.addIssue({ code: 'custom', path: [...path], message: error.message });
      return z.NEVER;
    }
  };
}

/** As written: two names that differ only in spaces would otherwise be one field. */
function checkedName(given: string): string {
  parseName('mcpServer', given);
  return given;
}

function name(kind: NameKind, rule: string) {
  return z.string({ error: rule }).transform(by((given) => parseName(kind, given)));
}

const description = z.string({ error: 'a text' }).transform(by(parseDescription));
const trueOrFalse = z.boolean({ error: 'true or false' });
const scalar = z.union([z.string(), z.number(), z.boolean()]).transform(String);

const envFileMaxBytes = 1024 * 1024;

function mcpServer({ folder, env, read }: Surroundings) {
  /** A value, or its source: secrets stay out of the file, so that a value in it is plain. */
  const setting = z
    .union([scalar, fields({ fromEnv: z.string().min(1) }, '{ fromEnv: NAME }')], {
      error: 'a text, or { fromEnv: NAME }',
    })
    .transform(
      by((given) =>
        typeof given === 'string'
          ? { value: given, secret: false }
          : { value: variable(given.fromEnv, env), secret: true },
      ),
    );
  const settings = z.record(z.string(), setting, { error: 'names with their values' });
  return fields(
    {
      command: text('the command to run, in quotes where YAML takes it for something else')
        .optional()
        .meta({ description: 'The program to start. It speaks MCP on standard input and output.' }),
      args: list(scalar, 'a list of texts')
        .optional()
        .meta({ description: 'Arguments of the command. Every user of the machine can see them: no secrets.' }),
      cwd: text('a folder, relative to this file')
        .transform((given) => resolve(folder, given))
        .optional()
        .meta({ description: 'The working folder of the command, relative to this file.' }),
      env: settings.optional().meta({ description: 'Environment variables of the command.' }),
      envFile: text('a file of NAME=value lines, relative to this file')
        .transform(by((given) => parseEnv(read(given, envFileMaxBytes))))
        .optional()
        .meta({ description: 'A file of NAME=value lines, relative to this file.' }),
      url: text('the URL of an MCP server')
        .optional()
        .meta({ description: 'The address of an MCP server that is reached over HTTP, in place of a command.' }),
      headers: settings.optional().meta({ description: 'HTTP headers for the URL.' }),
      settings: declarations.optional().meta({
        description:
          'Variables or headers that people fill in, by name, each with fields such as title. Without a value of a required one, the MCP server is not started.',
      }),
      runtime: name('runtime', 'the name of a runtime')
        .nullish()
        .meta({ description: "The runtime that runs it; null: the platform's own." }),
      enabled: trueOrFalse.optional().meta({ description: 'Whether it runs. Default: true.' }),
      startTimeout: deadline('startTimeout')
        .optional()
        .meta({ description: 'Seconds from its launch to its list of tools. 0: the setting runtime.startTimeout.' }),
      callTimeout: deadline('callTimeout').optional().meta({
        description:
          'Seconds that a call may be without an answer and without progress. 0: the setting runtime.callTimeout.',
      }),
    },
    'fields such as command or url',
  ).transform(
    (
      { runtime, enabled, startTimeout, callTimeout, env: own, envFile, headers, settings: declared, ...launchOf },
      context,
    ) => {
      if (context.issues.length > 0) return z.NEVER;
      // A variable of the file itself wins over the env file.
      const ofFile = Object.entries(envFile ?? {}).map(
        ([name, value = '']) => [name, { value, secret: true }] as const,
      );
      const variables =
        own === undefined && envFile === undefined ? undefined : settingsOf({ ...Object.fromEntries(ofFile), ...own });
      const launch: LaunchInput = {
        ...launchOf,
        env: variables,
        headers: headers && settingsOf(headers),
        settings: declared && Object.entries(declared).map(([name, given]) => ({ ...given, name })),
      };
      for (const issue of mistakesOf(launch)) context.addIssue({ code: 'custom', ...issue });
      return { launch, runtime, enabled, startTimeout, callTimeout };
    },
  );
}

/** The value of a declared setting stands in env or headers, or a person gives it later. A name alone takes the defaults. */
const declarations = z.record(
  z.string(),
  fields(
    {
      title: z.string({ error: 'a text' }).optional().meta({ description: 'What people read in place of the name.' }),
      description: z.string({ error: 'a text' }).optional().meta({ description: 'What its value is, in a sentence.' }),
      secret: trueOrFalse.optional().meta({ description: 'Whether its value is never shown. Default: true.' }),
      required: trueOrFalse
        .optional()
        .meta({ description: 'Whether the MCP server needs a value of it to start. Default: true.' }),
    },
    'fields such as title and required, or nothing',
  ).nullable(),
  { error: 'names, each with fields such as title' },
);

function deadline(name: DeadlineName) {
  const range = deadlineRanges[name];
  const error = deadlineRule(range);
  const seconds = z.number({ error }).int({ error });
  return seconds.refine((given) => given === 0 || (given >= range.min && given <= range.max), { error });
}

function variable(name: string, env: EnvRecord): string {
  const value = env[name] ?? '';
  if (value === '') throw new SvcError('invalid_input', `The environment variable ${name} is not set.`);
  return value;
}

/** A value that looks like a secret is one, also when it is in the file. */
function settingsOf(values: Readonly<Record<string, Required<Omit<Setting, 'name'>>>>): readonly Setting[] {
  return Object.entries(values).map(([name, { value, secret }]) => {
    return { name, value, secret: secret || looksSecret(name, value ?? '') };
  });
}

function mistakesOf(launch: LaunchInput) {
  const problems = problemsOf(launch);
  const secret = findSecretWord([launch.command ?? '', ...(launch.args ?? [])]);
  return [
    ...problems.map(({ path, message }) => ({ path: [...path], message: `${message}.` })),
    ...(secret === null
      ? []
      : [{ path: secret.at === 0 ? ['command'] : ['args', secret.at - 1], message: secretHint }]),
  ];
}

/** Without a command or a URL, the file changes an existing MCP server, and its other fields are checked. */
function problemsOf(launch: LaunchInput): readonly LaunchProblem[] {
  const { command, url, headers, env } = launch;
  if (command !== undefined || url !== undefined) return checkedProblems(launch);
  const asCommand = checkedProblems({ ...launch, command: 'command' });
  if (asCommand.length === 0 || env !== undefined) return asCommand;
  const asUrl = checkedProblems({ ...launch, url: 'https://url.example' });
  // Declared settings alone may be variables or headers.
  return headers !== undefined || asUrl.length === 0 ? asUrl : asCommand;
}

function checkedProblems(launch: LaunchInput): readonly LaunchProblem[] {
  const checked = checkLaunch(launch);
  return checked.ok ? [] : checked.problems;
}

const secretHint =
  'It looks like a secret. Every user of the machine can see arguments. Pass it in env with { fromEnv: NAME }.';

const toolRule = 'MCPSERVER/TOOL, such as files/read_file or files/*';
const longTool = new RegExp(`^(?![^/]*/.{${toolNameLengthMax + 1}})`, 's');
const tool = z
  .string({ error: toolRule })
  .regex(/^[^/]+\/.+$/s, { error: toolRule })
  .regex(longTool, { error: `${toolRule}, with at most ${toolNameLengthMax} characters after the /` })
  .transform(
    by((given) => {
      const slash = given.indexOf('/');
      const tool = given.slice(slash + 1);
      return { mcpServer: given.slice(0, slash), tool: isToolPattern(tool) ? parseToolPattern(tool) : tool };
    }),
  );

function skill({ read, readSkill }: Surroundings) {
  return fields(
    {
      name: name('skill', 'the name of the skill').optional().meta({ description: 'Its name: a-z, 0-9 and -.' }),
      description: description.optional().meta({ description: 'What the skill is for, in a sentence.' }),
      instructions: z
        .union([text('a file'), fields({ text: z.string() }, '{ text: … }')], {
          error: 'a file with instructions, relative to this file, or { text: … }',
        })
        .transform(by((given) => (typeof given === 'string' ? read(given, instructionsMaxBytes) : given.text)))
        .optional()
        .meta({ description: 'How to use the tools: a file of Markdown, relative to this file, or { text: … }.' }),
      from: text('a folder with a SKILL.md, relative to this file').transform(by(readSkill)).optional().meta({
        description:
          'A folder with a SKILL.md: name, description, instructions and files come from it, and tools that it names.',
      }),
      tools: list(tool, 'a list of tools', toolsOfSkillMax)
        .optional()
        .meta({ description: 'Its tools, each as MCPSERVER/TOOL.' }),
    },
    'fields such as name and tools',
  ).transform(({ from, ...given }, context) => {
    if (context.issues.length > 0) return z.NEVER;
    const complain = (message: string) => context.addIssue({ code: 'custom', message });
    if (from !== undefined && given.instructions !== undefined) {
      complain('The instructions come from the folder that "from" names: leave one of them out.');
    }
    if (from === undefined && given.name === undefined) {
      complain('A skill must have a name.');
      return z.NEVER;
    }
    const ofFolder = <Result>(convert: (text: string) => Result, text: string) => by(convert, ['from'])(text, context);
    return {
      name: given.name ?? ofFolder((named) => parseName('skill', named), from?.name ?? ''),
      description: given.description ?? (from && ofFolder(parseDescription, from.description)),
      instructions: given.instructions ?? from?.instructions,
      tools: given.tools ?? from?.tools,
      // A folder with a SKILL.md alone names no files, so files that were added later stay.
      files: from === undefined || from.files.length === 0 ? undefined : from.files,
    };
  });
}

const role = fields(
  {
    name: name('role', 'the name of the role').meta({ description: 'Its name.' }),
    description: description.optional().meta({ description: 'What the role is for, in a sentence.' }),
    enabled: trueOrFalse.optional().meta({ description: 'Whether agents may use it. Default: true.' }),
    skills: list(text('the name of a skill'), 'a list of names of skills', skillsOfRoleMax)
      .optional()
      .meta({ description: 'Names of its skills.' }),
    readOnly: trueOrFalse.optional().meta({
      description: 'Whether only tools pass that their MCP servers describe as read-only. Default: false.',
    }),
    allow: list(tool, 'a list of tools', rulesOfRoleMax)
      .optional()
      .meta({ description: 'If it names any, only these tools pass, each as MCPSERVER/TOOL.' }),
    deny: list(tool, 'a list of tools', rulesOfRoleMax)
      .optional()
      .meta({ description: 'Tools that never pass, each as MCPSERVER/TOOL.' }),
  },
  'fields such as name and skills',
).transform((given, context) => {
  if (context.issues.length > 0) return z.NEVER;
  const { allow = [], deny = [] } = given;
  const complain = (message: string) => context.addIssue({ code: 'custom', message });
  const denied = new Set(deny.map(textOfTool));
  const both = allow.map(textOfTool).find((text) => denied.has(text));
  if (both !== undefined) complain(`The role both allows and denies "${both.slice(0, 200)}": leave one of them out.`);
  if (allow.length + deny.length > rulesOfRoleMax) {
    complain(`"allow" and "deny" together have more than ${rulesOfRoleMax} tools.`);
  }
  return given;
});

function textOfTool({ mcpServer, tool }: { readonly mcpServer: string; readonly tool: string }): string {
  return `${mcpServer}/${tool}`;
}
