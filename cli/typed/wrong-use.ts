import { parseArgs } from 'node:util';
import type { Command } from '@oclif/core/command';
import { CLIError } from '@oclif/core/errors';
import { z } from 'zod';
import { nearest } from '../../services/contracts/did-you-mean.ts';
import { SvcError } from '../../services/contracts/errors.ts';
import { shellWord } from '../../services/contracts/shell-word.ts';
import { usageOf } from './usage.ts';

/** The fields of oclif's errors about the words that it read. */
const unread = z.object({
  parse: z.object({
    output: z.object({
      args: z.record(z.string(), z.unknown()),
      argv: z.array(z.string()),
      flags: z.record(z.string(), z.unknown()),
      nonExistentFlags: z.array(z.string()),
    }),
  }),
});
type Read = z.output<typeof unread>['parse']['output'];

/** Flags that Node itself reads from anywhere on the command line, where no `--` stands before its program. */
const nodesOwn: readonly string[] = ['--env-file', '--env-file-if-exists'];

/** Replaces oclif's messages about wrong flags and arguments. Null for every other error. */
export function wrongUse(thrown: unknown, command: Command.Cached, typed: readonly string[]): SvcError | null {
  if (!(thrown instanceof CLIError)) return null;
  const usage = `Usage: svc ${usageOf(command)}`;
  const refusal = (message: string, hint?: string) =>
    new SvcError('invalid_input', message, { hint: hint === undefined ? usage : `${hint}\n${usage}` });
  const read = unread.safeParse(thrown).data?.parse.output;
  return read === undefined ? wrongValue(typed, command.flags, refusal) : whatIsWrong(read, command, refusal);
}

type Refusal = (message: string, hint?: string) => SvcError;
type Definition = Pick<Command.Cached, 'args' | 'flags'>;

function whatIsWrong(read: Read, { args, flags }: Definition, refusal: Refusal): SvcError {
  const [unknown] = read.nonExistentFlags;
  if (unknown !== undefined) {
    const next = read.argv[read.argv.indexOf(unknown) + 1];
    return unknownFlag(unknown, { args, flags, next }, refusal);
  }
  const missing = Object.values(flags).filter((flag) => flag.required && read.flags[flag.name] === undefined);
  const [extra] = read.argv.slice(Object.keys(args).length);
  if (extra !== undefined) {
    const [flag] = missing;
    return flag !== undefined && missing.length === 1
      ? refusal(`"${extra}" is an unexpected argument.`, `Did you mean --${flag.name} ${extra}?`)
      : refusal(`"${extra}" is an unexpected argument.`);
  }
  const absent = Object.entries(args).filter(([name, arg]) => arg.required && read.args[name] === undefined);
  const dependent = Object.values(flags).find((flag) => dependencyOf(flag, read) !== undefined);
  if (dependent !== undefined) {
    return refusal(`--${dependent.name} is only for --${dependencyOf(dependent, read)}.`);
  }
  const excluded = Object.values(flags).find((flag) => exclusiveOf(flag, read) !== undefined);
  if (excluded !== undefined) {
    return refusal(`--${excluded.name} and --${exclusiveOf(excluded, read)} cannot be given together.`);
  }
  const wanted = [...absent.map(([, arg]) => arg.name.toUpperCase()), ...missing.map((flag) => `--${flag.name}`)];
  return refusal(`${wanted.join(' and ')} ${wanted.length === 1 ? 'is' : 'are'} missing.`);
}

/** `next` is the word behind the flag, which may be its value. */
function unknownFlag(
  typed: string,
  { args, flags, next }: Definition & { readonly next: string | undefined },
  refusal: Refusal,
): SvcError {
  const [name = typed, value = next] = typed.split('=');
  if (name === '--name' && 'name' in args) return refusal('There is no flag --name.', 'Type the name without a flag.');
  if (nodesOwn.includes(name) && 'variable-file' in flags) {
    return refusal(
      `${name} is a flag of Node, and not of this command.`,
      `Did you mean --variable-file ${value === undefined ? 'FILE' : shellWord(value)}?`,
    );
  }
  const known = Object.values(flags).flatMap((flag) => [`--${flag.name}`, ...(flag.char ? [`-${flag.char}`] : [])]);
  // Other programs write long flags with one dash. A single letter is similar to too many flags.
  const long = name.startsWith('--') ? name : `-${name}`;
  const meant = name.length > 2 ? nearest(long, [...known, '--help']) : null;
  return refusal(`There is no flag ${name}.`, meant === null ? undefined : `Did you mean ${meant}?`);
}

/** The flag that this one needs, if it was left out. */
function dependencyOf(flag: Command.Flag.Cached, read: Read): string | undefined {
  if (read.flags[flag.name] === undefined) return undefined;
  return flag.dependsOn?.find((name) => read.flags[name] === undefined);
}

/** The given flag that this one cannot be combined with. A boolean flag counts when it is true. */
function exclusiveOf(flag: Command.Flag.Cached, { flags }: Read): string | undefined {
  const isGiven = (name: string) => flags[name] !== undefined && flags[name] !== false;
  return isGiven(flag.name) ? flag.exclusive?.find(isGiven) : undefined;
}

/** For a flag without a value and for one given twice, oclif throws the same class, so the typed words decide. */
function wrongValue(typed: readonly string[], flags: Definition['flags'], refusal: Refusal): SvcError | null {
  const options = Object.fromEntries(
    Object.values(flags).map(({ name, type, char }) => [
      name,
      { type: type === 'boolean' ? 'boolean' : 'string', ...(char === undefined ? {} : { short: char }) } as const,
    ]),
  );
  const { tokens } = parseArgs({ args: [...typed], options, strict: false, allowPositionals: true, tokens: true });
  const isFlag = (word: string) =>
    Object.values(flags).some(({ name, char }) => word === `--${name}` || word === `-${char}`);
  const seen = new Set<string>();
  for (const token of tokens) {
    const flag = token.kind === 'option' ? flags[token.name] : undefined;
    if (token.kind !== 'option' || flag?.type !== 'option') continue;
    if (seen.has(flag.name) && !flag.multiple) return refusal(`--${flag.name} was given more than once.`);
    if (token.value === undefined || isFlag(token.value)) {
      return refusal(`--${flag.name} needs a value: --${flag.name} ${flag.helpValue ?? 'VALUE'}.`);
    }
    seen.add(flag.name);
  }
  return null;
}
