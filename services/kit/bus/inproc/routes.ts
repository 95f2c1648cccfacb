import { matches } from '../../../contracts/bus/subjects.ts';
import type { Subscriber } from '../subscriber.ts';
import type { Responder } from './responder.ts';

/** The listeners of a subject. Routes are cached, so that a warm message costs one look-up and no matching. */
export interface Route {
  readonly subscribers: readonly Subscriber[];
  readonly responders: readonly Responder[];
}

/** Cached subjects. Bounded, because sessions come and go. */
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
  return {
    subscribers: listeners.filter((listener) => listener.kind === 'subscriber'),
    responders: listeners.filter((listener) => listener.kind === 'responder'),
  };
}

function isWildcard(pattern: string): boolean {
  return pattern.includes('*') || pattern.includes('>');
}
