import type { Engine } from '../engine.ts';
import { containerSite, isPublished } from './site.ts';

/** Each part in a container. Its image contains the program that it runs. Code that a command does not use is not loaded. */
export const dockerEngine: Engine = {
  site: (installation, _, wishes) => containerSite(installation, wishes),
  takesPort: isPublished,
  // The daemon itself listens on published ports, as root.
  async check(_, env) {
    const { connectToDaemon } = await import('./daemon.ts');
    await connectToDaemon(env);
    return [];
  },
  async survey(start) {
    const { surveyContainers } = await import('./survey.ts');
    return surveyContainers(start);
  },
  async down({ installation, onProgress }) {
    const { downContainers } = await import('./take-down.ts');
    return downContainers(installation, (name, state) => onProgress({ kind: 'service', name, state }));
  },
  async inspect(options) {
    const { statusOfContainers } = await import('./status.ts');
    return statusOfContainers(options);
  },
  async places(options) {
    const { placesInVolumes } = await import('./places.ts');
    return placesInVolumes(options);
  },
  async logs(installation, linesMax) {
    const { containerLogSources } = await import('./container-log.ts');
    return containerLogSources(installation, linesMax);
  },
};
