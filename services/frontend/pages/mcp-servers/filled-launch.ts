import type { LaunchInput, McpServerQuery } from '../../graphql/generated/operations.ts';

type Server = NonNullable<NonNullable<McpServerQuery['workspace']>['mcpServer']>;
export type ShownLaunch = NonNullable<Server['launch']>;
export type ShownDeclaration = ShownLaunch['settings'][number];

/** The settings that a person changes, by name. Null removes the value. */
export type Draft = ReadonlyMap<string, string | null>;

/** The draft after a person typed. An empty text keeps a secret value, and removes one that is shown. */
export function withText(
  draft: Draft,
  launch: ShownLaunch,
  { name, secret, isSet }: ShownDeclaration,
  text: string,
): Draft {
  const next = new Map(draft);
  const isEmpty = text.trim() === '';
  if ((isEmpty && (secret || !isSet)) || (!secret && text === shownValue(launch, name))) next.delete(name);
  else next.set(name, isEmpty ? null : text);
  return next;
}

/** The stored value. A secret value is never shown, so its field is empty. */
export function shownValue(launch: ShownLaunch, name: string): string {
  return valuesOf(launch).find((one) => one.name === name)?.value ?? '';
}

/** The launch with the changes. All other settings keep their stored values, which the page does not know. */
export function filledLaunch(launch: ShownLaunch, draft: Draft): LaunchInput {
  const kept = valuesOf(launch).filter(({ name }) => !draft.has(name));
  const given = launch.settings.flatMap(({ name, secret }) => {
    const value = draft.get(name);
    return value == null ? [] : [{ name, value: value.trim(), secret }];
  });
  const values = [...kept.map(({ name }) => ({ name })), ...given];
  const { command, args, cwd, url } = launch;
  return url == null ? { command, args, cwd, env: values } : { url, headers: values };
}

function valuesOf({ url, env, headers }: ShownLaunch): ShownLaunch['env'] {
  return url == null ? env : headers;
}
