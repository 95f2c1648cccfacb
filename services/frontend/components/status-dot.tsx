import { classNames } from './class-names.ts';

export type Tone = 'good' | 'warn' | 'bad' | 'none';

const tones = {
  good: { dot: 'bg-good-dot', text: 'text-good' },
  warn: { dot: 'bg-warn-dot', text: 'text-warn' },
  bad: { dot: 'bg-bad-dot', text: 'text-bad' },
  none: { dot: 'bg-faint', text: 'text-quiet' },
} as const satisfies Record<Tone, unknown>;

/** A state with its word: colour alone says nothing to many people. */
export function StatusDot({ tone, children }: { readonly tone: Tone; readonly children: string }) {
  return (
    <span className={classNames('inline-flex items-center gap-2 whitespace-nowrap', tones[tone].text)}>
      <i className={classNames('size-2 shrink-0 rounded-dot', tones[tone].dot)} />
      {children}
    </span>
  );
}
