import { z } from 'zod';

const addresses = z.object({ app: z.string(), api: z.string(), mcp: z.string(), runtime: z.string() });

/** The public addresses in a record. Records of older versions have no `keys`. */
export const recordedUrls = addresses
  .extend({ keys: z.string().optional() })
  .transform(({ keys, ...urls }) => ({ ...urls, keys: keys ?? urls.mcp }));
