import type { BusLink } from './bus/bus-link.ts';

/** Checks without which no agent can be served, in words for whoever runs the platform. */
export function missing(link: BusLink, isStopping: boolean): readonly string[] {
  if (isStopping) return ['remote-mcp: is stopping'];
  if (link.busProblem !== null) return [`bus: ${link.busProblem}`];
  return link.hello === null ? [`backend: ${link.backendProblem}`] : [];
}

/** Checks without which agents are served from what is known already. */
export function degraded(link: BusLink): readonly string[] {
  return link.backendProblem === null ? [] : [`backend: ${link.backendProblem}`];
}
