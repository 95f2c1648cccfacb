import type { Principal } from '../../../contracts/bus/messages.ts';
import { nearest } from '../../../contracts/did-you-mean.ts';
import { SvcError } from '../../../contracts/errors.ts';
import { findId } from '../../../contracts/ids.ts';
import { HttpRefusal } from '../../../kit/http/http-refusal.ts';
import type { Catalogue, Role, Skill } from '../../catalogue/catalogue.ts';
import { type Disclosure, nothingDisclosed, skillsMax } from '../../sessions/disclosure.ts';
import { isOfKey, isSkillOfKey } from '../../tools/view.ts';

const parameters = ['skillIds', 'roleIds'] as const;
type Parameter = (typeof parameters)[number];

/** The values of `?skillIds=` and `?roleIds=` (part 4 of the specification, preloading). */
export type Preloads = Readonly<Record<Parameter, readonly string[]>>;

/** Null if the address preloads nothing. */
export function preloads(url: string): Preloads | null {
  const question = url.indexOf('?');
  if (question < 0) return null;
  const query = new URLSearchParams(url.slice(question + 1));
  for (const name of query.keys()) refuseMistake(name);
  const found = { skillIds: valuesOf(query, 'skillIds'), roleIds: valuesOf(query, 'roleIds') };
  return found.skillIds.length === 0 && found.roleIds.length === 0 ? null : found;
}

/** Otherwise a session would open without its skills, and nobody would know why. Other parameters are ignored. */
function refuseMistake(name: string): void {
  if (parameters.some((known) => known === name)) return;
  const meant = meantBy(name);
  if (meant === null) return;
  throw new HttpRefusal('invalid_input', `"${name.slice(0, 40)}" is not a parameter of /mcp: it must be "${meant}".`, {
    status: 400,
    hint: `Write ?${meant}=NAME, with names or ids between commas.`,
  });
}

function meantBy(name: string): Parameter | null {
  const word = /^(skill|role)s?[-_]?((id|name)s?)?(\[\])?$/i.exec(name)?.[1]?.toLowerCase();
  if (word !== undefined) return word === 'skill' ? 'skillIds' : 'roleIds';
  return /^[sr]/i.test(name) ? (parameters.find((known) => known === nearest(name, parameters)) ?? null) : null;
}

/** No name holds a comma. */
function valuesOf(query: URLSearchParams, parameter: Parameter): readonly string[] {
  const values = query.getAll(parameter).flatMap((value) => value.split(','));
  const given = new Set(values.map((value) => value.trim()).filter(Boolean));
  if (given.size <= skillsMax) return [...given];
  throw new SvcError('invalid_input', `"${parameter}" may name at most ${skillsMax} ids or names.`);
}

/** Skills and roles outside the key are refused like those that do not exist, so that an agent cannot tell them apart. */
export function disclose({ skillIds, roleIds }: Preloads, catalogue: Catalogue, principal: Principal): Disclosure {
  const ofKey = {
    skillIds: catalogue.skills.filter((skill) => isSkillOfKey({ principal }, skill)),
    roleIds: catalogue.roles.filter((role) => isOfKey(principal, role)),
  };
  const roles = allNamed(roleIds, { parameter: 'roleIds', ofKey: ofKey.roleIds });
  const skills = allNamed(skillIds, { parameter: 'skillIds', ofKey: ofKey.skillIds });
  const choice = roles.length === 0 ? nothingDisclosed.choice : { kind: 'only' as const, roles };
  return { choice, skills, roles };
}

interface Choice<Item> {
  readonly parameter: Parameter;
  /** The skills or roles within the key. */
  readonly ofKey: readonly Item[];
}

function allNamed<Item extends Skill | Role>(values: readonly string[], choice: Choice<Item>): readonly Item['id'][] {
  const byWord = new Map<string, Item>(
    choice.ofKey.flatMap((item) => [[item.id, item] as const, [item.name, item] as const]),
  );
  return [...new Set(values.map((value) => (byWord.get(value) ?? refuse(value, choice)).id))];
}

const namesMax = 10;
/** Comparing a word with more names would delay other agents. */
const comparedMax = 200;

/** Only an id is repeated in the message, because refusals are logged and another text may be the key by mistake. */
function refuse(given: string, { parameter, ofKey }: Choice<Skill | Role>): never {
  const isId = findId(parameter === 'skillIds' ? 'skill' : 'role', given) !== null;
  const names = ofKey.map(({ name }) => name);
  throw new SvcError('forbidden', `${isId ? `"${given}"` : 'Something'} in ${parameter} is not within this API key.`, {
    hint: hintFor(given, { what: parameter === 'skillIds' ? 'skill' : 'role', names }),
  });
}

function hintFor(given: string, { what, names }: { readonly what: string; readonly names: readonly string[] }): string {
  const meant = nearest(given.slice(0, 64), names.slice(0, comparedMax));
  if (meant !== null) return `Did you mean "${meant}"? ${what}Ids takes names and ids.`;
  if (names.length === 0) return `The key has no ${what}. An operator can run: svc keys explain NAME`;
  const more = names.length > namesMax ? `, and ${names.length - namesMax} more` : '';
  return `${what}Ids takes names and ids. The ${what}s of this key: ${names.slice(0, namesMax).join(', ')}${more}.`;
}
