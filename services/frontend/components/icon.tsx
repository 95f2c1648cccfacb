import { classNames } from './class-names.ts';

/** Drawn on 16 by 16 with strokes of the text's colour. */
const paths = {
  activity: 'M1.5 8.5h3l2-5.5 3 10 2-4.5h3',
  agent: 'M3.5 5.5h9v8h-9zM8 5.5v-3M6.5 9h.01M9.5 9h.01M1.5 8.5v2m13-2v2',
  check: 'm3 8.5 3.2 3.2L13 4.8',
  chevron: 'm4 6 4 4 4-4',
  close: 'm4 4 8 8m0-8-8 8',
  copy: 'M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3',
  home: 'M2.5 7 8 2.5 13.5 7v6.5h-4v-4h-3v4h-4z',
  key: 'M5 10.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5Zm2.5-2.5h6v2.5m-2.5-2.5v2',
  integration: 'M6 2.5v3m4-3v3m-5.5 0h7v2.5a3.5 3.5 0 0 1-7 0zM8 11.5v2.5',
  mark: 'M8 1.5 14.5 8 8 14.5 1.5 8ZM8 5.5 10.5 8 8 10.5 5.5 8Z',
  members:
    'M6 7.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5Zm-4.5 6c.4-2.4 2-3.7 4.5-3.7s4.1 1.3 4.5 3.7M10.5 2.7a2.5 2.5 0 0 1 0 4.6m1.5 2.8c1.5.6 2.3 1.8 2.5 3.4',
  more: 'M3.5 8h.01M8 8h.01M12.5 8h.01',
  person: 'M8 8a2.75 2.75 0 1 0 0-5.5A2.75 2.75 0 0 0 8 8Zm-5.5 5.5c.6-2.3 2.8-3.5 5.5-3.5s4.9 1.2 5.5 3.5',
  plus: 'M8 3v10M3 8h10',
  role: 'M8 2 3 4v4c0 3 2.2 5 5 6 2.8-1 5-3 5-6V4z',
  runtime: 'M2 2.5h12v9H2zM5.5 14h5M8 11.5V14M5 5.5l2 1.5-2 1.5m3.5 0H11',
  search: 'M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9Zm3.3-1.2 3.2 3.2',
  server: 'M2.5 3h11v4h-11zm0 6h11v4h-11zM5 5h.01M5 11h.01',
  settings: 'M2 4.5h6m3 0h3M9.5 3v3M2 11.5h3m3 0h6M6.5 10v3',
  skill: 'M8.8 1.5 3 9h4.2l-.7 5.5L12.5 7H8.2z',
  theme: 'M8 13.5a5.5 5.5 0 1 0 0-11 5.5 5.5 0 0 0 0 11Zm0-11v11M8 5l4-1M8 8h5.5M8 11l4 1',
  usage: 'M2.5 13.5h11M4.5 11V8M8 11V3.5M11.5 11V6',
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
