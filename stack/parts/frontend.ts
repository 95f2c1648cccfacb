import { backend } from './backend.ts';
import { serviceParts, serviceWish } from './service.ts';
import type { PartKind } from './setup.ts';

export const frontend: PartKind = {
  nodes: () => ['frontend'],
  wishes: (definition) => [serviceWish('frontend', definition)],
  parts: (setup) =>
    serviceParts(setup, {
      service: 'frontend',
      wishes: frontend.wishes(setup.definition),
      after: backend.nodes(setup.definition),
      rooms: ['platform'],
      variables: () => ({
        PUBLIC_BACKEND_URL: setup.addresses.public.backend,
        PUBLIC_MCP_URL: setup.addresses.public.mcp,
      }),
    }),
};
