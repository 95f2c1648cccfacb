import type { Plan } from '../../plan/plan.ts';
import { ensureImage, ensureServiceImage, type ImageFacts, type Images } from './images.ts';
import { foreignImagesOf } from './program.ts';
import { serviceImageOn } from './service-image.ts';

/** All images of a plan, by name. Pulls and builds the missing ones. */
export async function ensurePlanImages(
  { definition, parts }: Pick<Plan, 'definition' | 'parts'>,
  asking: Images,
): Promise<Readonly<Record<string, ImageFacts>>> {
  const service = serviceImageOn(definition.images.base);
  const images: Record<string, ImageFacts> = { [service.name]: await ensureServiceImage(service, asking) };
  for (const name of foreignImagesOf(parts)) {
    images[definition.images[name]] = await ensureImage(definition.images[name], `images.${name}`, asking);
  }
  return images;
}
