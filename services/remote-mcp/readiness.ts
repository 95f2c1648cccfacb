import type { BusLink } from './bus/bus-link.ts';

/** Failed checks that keep agents from being served, in words for the operator. */
export function missing(link: BusLink, isStopping: boolean): readonly string[] {
  if (isStopping) return ['remote-mcp: is stopping'];
  if (link.busProblem !== null) return [`bus: ${link.busProblem}`];
  return link.hello === null ? [`backend: ${link.backendProblem}`] : [];
}

/** Failed checks that leave agents served from cached data. */
export function degraded(link: BusLink): readonly string[] {
  return link.backendProblem === null ? [] : [`backend: ${link.backendProblem}`];
}
