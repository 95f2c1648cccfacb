import { replaceScalar } from '../settings/yaml-text.ts';

/** A change of svc.yaml that sets these fields of `public`. */
export function publicSettings(fields: Readonly<Record<string, string | number>>): (yaml: string) => string {
  const all = Object.entries(fields).map(([field, value]) => [field.split('.'), String(value)] as const);
  return (yaml) => all.reduce((text, [path, value]) => replaceScalar(text, ['public', ...path], value), yaml);
}
