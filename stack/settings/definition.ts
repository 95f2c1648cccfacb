import type { ValueOf } from './setting.ts';
import type { settings } from './settings.ts';

export type Auto<Value> = Value | 'auto';

/** The checked content of svc.yaml: every choice of an installation, and no secret. */
export type Definition = ValueOf<typeof settings>;
