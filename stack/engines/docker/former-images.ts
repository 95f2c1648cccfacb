import type Docker from 'dockerode';
import { statusOf } from '../../../services/contracts/docker.ts';
import type { Installation } from '../../state/installation.ts';
import { keepInManifest, readManifest } from '../../state/manifest.ts';
import { isServiceImage } from './service-image.ts';

/**
 * Removes the images of the services that this installation was built before, 200 MB each. Docker keeps an image that a container uses, and the
 * next upgrade tries again. Images of others stay: the operator may use them for something else.
 */
export async function removeFormerImages(docker: Docker, installation: Installation, present: string): Promise<void> {
  const former = readManifest(installation)
    .filter(({ kind, path }) => kind === 'image' && isServiceImage(path) && path !== present)
    .map(({ path }) => path);
  const gone = new Set<string>();
  for (const name of former) if (await isRemoved(docker, name)) gone.add(name);
  if (gone.size > 0) keepInManifest(installation, ({ kind, path }) => kind !== 'image' || !gone.has(path));
}

/** The platform runs by now: what keeps an image from being removed is no reason for svc up to fail. */
async function isRemoved(docker: Docker, name: string): Promise<boolean> {
  try {
    await docker.getImage(name).remove();
    return true;
  } catch (error) {
    return statusOf(error) === 404;
  }
}
