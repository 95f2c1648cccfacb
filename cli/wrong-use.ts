import type { Command } from '@oclif/core/command';
import { z } from 'zod';
import { nearest } from '../services/contracts/did-you-mean.ts';
import { SvcError } from '../services/contracts/errors.ts';
import { usageOf } from './usage.ts';

/** What oclif's errors tell of the words it read: enough to say what is wrong in our own words. */
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

/** Flags that Node takes from anywhere on the command line before a program is asked, and reads a file for. */
const nodesOwn: readonly string[] = ['--env-file', '--env-file-if-exists'];

/** oclif refuses wrong flags and arguments in its words; these are ours. Null for every other error. */
export function wrongUse(thrown: unknown, command: Command.Cached): SvcError | null {
  const usage = `Usage: svc ${usageOf(command)}`;
  const refusal = (message: string, hint?: string) =>
    new SvcError('invalid_input', message, { hint: hint === undefined ? usage : `${hint}\n${usage}` });
  const found = unread.safeParse(thrown);
  if (found.success) return whatIsWrong(found.data.parse.output, command, refusal);
  return thrown instanceof Error && 'oclif' in thrown ? wrongValue(thrown.message, command.flags, refusal) : null;
}

type Refusal = (message: string, hint?: string) => SvcError;
type Definition = Pick<Command.Cached, 'args' | 'flags'>;

function whatIsWrong(read: Read, { args, flags }: Definition, refusal: Refusal): SvcError {
  const [unknown] = read.nonExistentFlags;
  if (unknown !== undefined) return unknownFlag(unknown, flags, refusal);
  const missing = Object.values(flags).filter((flag) => flag.required && read.flags[flag.name] === undefined);
  const [extra] = read.argv.slice(Object.keys(args).length);
  if (extra !== undefined) {
    const [flag] = missing;
    return flag !== undefined && missing.length === 1
      ? refusal(`"${extra}" has no place here.`, `Did you mean --${flag.name} ${extra}?`)
      : refusal(`"${extra}" is one word too many.`);
  }
  const absent = Object.entries(args).filter(([name, arg]) => arg.required && read.args[name] === undefined);
  const wanted = [...absent.map(([, arg]) => arg.name.toUpperCase()), ...missing.map((flag) => `--${flag.name}`)];
  return refusal(`${wanted.join(' and ')} ${wanted.length === 1 ? 'is' : 'are'} missing.`);
}

function unknownFlag(typed: string, flags: Definition['flags'], refusal: Refusal): SvcError {
  const name = typed.split('=')[0] ?? typed;
  if (nodesOwn.includes(name) && 'variable-file' in flags) {
    return refusal(
      `${name} is a flag of Node, which reads that file for itself.`,
      'Did you mean --variable-file FILE?',
    );
  }
  const known = Object.values(flags).flatMap((flag) => [`--${flag.name}`, ...(flag.char ? [`-${flag.char}`] : [])]);
  // Other programs write long flags with one dash; a single letter is like too many others.
  const long = name.startsWith('--') ? name : `-${name}`;
  const meant = name.length > 2 ? nearest(long, [...known, '--help']) : null;
  return refusal(`There is no flag ${name}.`, meant === null ? undefined : `Did you mean ${meant}?`);
}

/** Errors of a single flag carry nothing but their text. */
function wrongValue(text: string, flags: Definition['flags'], refusal: Refusal): SvcError {
  const [, name = '', trouble] = /^Flag --(\S+) (expects|can only)/.exec(text) ?? [];
  const flag = flags[name];
  if (trouble === 'can only') return refusal(`--${name} was given more than once.`);
  if (trouble === 'expects' && flag?.type === 'option')
    return refusal(`--${name} needs a value: --${name} ${flag.helpValue ?? 'VALUE'}.`);
  return refusal(text.split('\n').find((line) => line.trim() !== '') ?? text);
}
