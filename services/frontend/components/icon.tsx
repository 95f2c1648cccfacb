import { classNames } from './class-names.ts';

/** Drawn on 16 by 16 with strokes of the text's colour. */
const paths = {
  activity: 'M1.5 8.5h3l2-5.5 3 10 2-4.5h3',
  check: 'm3 8.5 3.2 3.2L13 4.8',
  chevron: 'm4 6 4 4 4-4',
  close: 'm4 4 8 8m0-8-8 8',
  copy: 'M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3',
  home: 'M2.5 7 8 2.5 13.5 7v6.5h-4v-4h-3v4h-4z',
  key: 'M5 10.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5Zm2.5-2.5h6v2.5m-2.5-2.5v2',
  menu: 'M2.5 4.5h11m-11 3.5h11m-11 3.5h11',
  more: 'M3.5 8h.01M8 8h.01M12.5 8h.01',
  person: 'M8 8a2.75 2.75 0 1 0 0-5.5A2.75 2.75 0 0 0 8 8Zm-5.5 5.5c.6-2.3 2.8-3.5 5.5-3.5s4.9 1.2 5.5 3.5',
  plus: 'M8 3v10M3 8h10',
  role: 'M8 2 3 4v4c0 3 2.2 5 5 6 2.8-1 5-3 5-6V4z',
  search: 'M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9Zm3.3-1.2 3.2 3.2',
  server: 'M2.5 3h11v4h-11zm0 6h11v4h-11zM5 5h.01M5 11h.01',
  settings: 'M2 4.5h6m3 0h3M9.5 3v3M2 11.5h3m3 0h6M6.5 10v3',
  skill: 'M8.8 1.5 3 9h4.2l-.7 5.5L12.5 7H8.2z',
  warning: 'M8 2.5 14.5 13.5h-13zM8 6.5v3M8 11.5h.01',
} as const;

export type IconName = keyof typeof paths;

export function Icon({ name, className }: { readonly name: IconName; readonly className?: string }) {
  return (
    <svg viewBox="0 0 16 16" aria-hidden="true" className={classNames('size-4 shrink-0', className)}>
      <path
        d={paths[name]}
        fill="none"
        stroke="currentColor"
        strokeWidth="1.4"
        strokeLinecap="round"
        strokeLinejoin="round"
      />
    </svg>
  );
}
