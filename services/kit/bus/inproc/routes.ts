import { matches } from '../../../contracts/bus/subjects.ts';
import { SvcError } from '../../../contracts/errors.ts';
import type { Responder } from './responder.ts';
import type { Subscriber } from './subscriber.ts';

/** Who hears a subject. Routes are remembered, so that a warm message costs one look-up and no matching. */
export interface Route {
  readonly subscribers: readonly Subscriber[];
  /** One member of each group hears a message. */
  readonly groups: readonly (readonly Subscriber[])[];
  readonly responders: readonly Responder[];
}

/** Subjects remembered; sessions come and go, so that there must be an end to it. */
const routesMax = 20_000;

type Listener = Subscriber | Responder;

export class Routes {
  readonly #known = new Map<string, Route>();
  readonly #exact = new Map<string, Set<Listener>>();
  readonly #wildcard = new Set<Listener>();

  find(subject: string): Route {
    return this.#known.get(subject) ?? this.#learn(subject);
  }

  add(listener: Listener): void {
    if (isWildcard(listener.pattern)) {
      this.#wildcard.add(listener);
      this.#known.clear();
      return;
    }
    const listeners = this.#exact.get(listener.pattern);
    if (listeners === undefined) this.#exact.set(listener.pattern, new Set([listener]));
    else listeners.add(listener);
    this.#known.delete(listener.pattern);
  }

  remove(listener: Listener): void {
    if (this.#wildcard.delete(listener)) {
      this.#known.clear();
      return;
    }
    const listeners = this.#exact.get(listener.pattern);
    if (listeners?.delete(listener) && listeners.size === 0) this.#exact.delete(listener.pattern);
    this.#known.delete(listener.pattern);
  }

  #learn(subject: string): Route {
    const listeners = [...(this.#exact.get(subject) ?? [])];
    for (const listener of this.#wildcard) if (matches(listener.pattern, subject)) listeners.push(listener);
    if (this.#known.size >= routesMax) this.#known.clear();
    const route = routeOf(listeners);
    this.#known.set(subject, route);
    return route;
  }
}

function routeOf(listeners: readonly Listener[]): Route {
  const subscribers: Subscriber[] = [];
  const responders: Responder[] = [];
  const groups = new Map<string, Subscriber[]>();
  for (const listener of listeners) {
    if (listener.kind === 'responder') responders.push(listener);
    else if (listener.queue === undefined) subscribers.push(listener);
    else groups.set(listener.queue, [...(groups.get(listener.queue) ?? []), listener]);
  }
  return { subscribers, responders, groups: [...groups.values()] };
}

function isWildcard(pattern: string): boolean {
  return pattern.includes('*') || pattern.includes('>');
}

const subjectMaxLength = 512;
/** Visible ASCII without what has a meaning of its own. */
const nameShape = /^[!-)+-\-/-=?-~]+$/;

export function checkSubject(subject: string): void {
  const tokens = subject.split('.', subjectMaxLength);
  if (subject.length > subjectMaxLength || !tokens.every((token) => nameShape.test(token))) {
    throw malformed(subject, 'a subject');
  }
}

export function checkPattern(pattern: string): void {
  const tokens = pattern.split('.', subjectMaxLength);
  const last = tokens.length - 1;
  const allowed = (token: string, i: number) => token === '*' || (token === '>' && i === last) || nameShape.test(token);
  if (pattern.length > subjectMaxLength || !tokens.every(allowed)) throw malformed(pattern, 'a subject pattern');
}

function malformed(text: string, what: string): SvcError {
  return new SvcError(
    'invalid_input',
    `"${text.slice(0, 100)}" is not ${what}: it must be tokens of visible characters with single dots between them.`,
  );
}
