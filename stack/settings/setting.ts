import type { z } from 'zod';
import type { ServiceName } from '../../services/contracts/env/variables.ts';
import { isObject } from '../../services/contracts/is-object.ts';

/** One setting of svc.yaml: its row holds everything about it. */
export interface Setting<Value> {
  /** The comment above it in svc.yaml. A line break begins a new line there. */
  readonly meaning?: string;
  /** Its description follows "must be". */
  readonly rule: z.ZodType<Value>;
  /** Whether errors of the rule about its fields, and of refinements, are messages of their own. */
  readonly hasOwnMessages?: boolean;
  /** As svc.yaml writes it. */
  readonly default: unknown;
  /** The comment after it: the meaning of `auto`. */
  readonly note?: string;
  /** The variables of services that it decides. They can be set nowhere else. */
  readonly variables?: { readonly [Service in ServiceName]?: readonly string[] };
  /** Converts its value into these variables; an empty text sets none. Absent when several settings decide them. */
  readonly write?: (value: Value) => string;
}

export interface Group<Parts extends PartsOf = PartsOf> {
  readonly meaning: string;
  readonly parts: Parts;
}

export interface PartsOf {
  // biome-ignore lint/suspicious/noExplicitAny: settings of any value, each checked by its own rule
  readonly [name: string]: Setting<any> | Group;
}

export type ValueOf<Part> =
  Part extends Setting<infer Value>
    ? Value
    : Part extends Group<infer Parts>
      ? { readonly [Name in keyof Parts]: ValueOf<Parts[Name]> }
      : never;

export function setting<Value>(rule: z.ZodType<Value>, row: Omit<Setting<Value>, 'rule'>): Setting<Value> {
  return { rule, ...row };
}

export function group<Parts extends PartsOf>(meaning: string, parts: Parts): Group<Parts> {
  return { meaning, parts };
}

export function isGroup(part: Setting<unknown> | Group): part is Group {
  return 'parts' in part;
}

export interface Row {
  readonly path: readonly string[];
  /** Its own meaning, or that of its group. */
  readonly meaning: string;
  readonly setting: Setting<unknown>;
}

/** Every setting with its path, in the order of the file. */
export function rowsOf({ meaning, parts }: Group, path: readonly string[] = []): readonly Row[] {
  return Object.entries(parts).flatMap(([name, part]) => {
    const inner = [...path, name];
    return isGroup(part) ? rowsOf(part, inner) : [{ path: inner, meaning: part.meaning ?? meaning, setting: part }];
  });
}

/** The path of the setting that decides a variable of a service. */
export function settingOf(all: Group, service: ServiceName, variable: string): string | undefined {
  const row = rowsOf(all).find(({ setting: { variables } }) => variables?.[service]?.includes(variable));
  return row?.path.join('.');
}

/** The variables of a service whose text follows from one setting alone. */
export function variablesOf(all: Group, service: ServiceName, values: unknown): Readonly<Record<string, string>> {
  const entries = rowsOf(all).flatMap(({ path, setting: { variables, write } }) => {
    const names = variables?.[service];
    if (names === undefined || write === undefined) return [];
    const text = write(valueAt(values, path));
    return text === '' ? [] : names.map((name) => [name, text] as const);
  });
  return Object.fromEntries(entries);
}

function valueAt(values: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, name) => (isObject(value) ? value[name] : undefined), values);
}
