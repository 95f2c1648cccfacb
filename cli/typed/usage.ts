import type { Command } from '@oclif/core/command';

/** The usage line of a command: its arguments, then its own flags, without the shared flags. */
export function usageOf({ id, usage, args, flags, strict }: Command.Cached): string {
  if (typeof usage === 'string') return usage;
  const words = Object.values(args).map((arg) => {
    const name = `${arg.name.toUpperCase()}${strict === false ? '…' : ''}`;
    return arg.required ? name : `[${name}]`;
  });
  const own = Object.values(flags).filter((flag) => flag.helpGroup !== 'GLOBAL' && !flag.hidden);
  const options = own.map((flag) => {
    const value = flag.type === 'option' ? ` ${flag.helpValue ?? 'VALUE'}` : '';
    const text = `--${flag.name}${value}`;
    return flag.required ? text : `[${text}]${flag.type === 'option' && flag.multiple ? '…' : ''}`;
  });
  return [id.replaceAll(':', ' '), ...words, ...options].join(' ');
}
