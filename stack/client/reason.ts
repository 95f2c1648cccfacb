import { z } from 'zod';

/** Why something is not as it should be, and what mends it, as the backend tells it. */
export const reason = z.object({ code: z.string(), message: z.string(), repair: z.string() });
