import type { ValueOf } from './setting.ts';
import type { settings } from './settings.ts';

export type Auto<Value> = Value | 'auto';

/** What svc.yaml says, checked: every choice of an installation, and no secret. */
export type Definition = ValueOf<typeof settings>;
