export const integrationStates = ['needs_authorization', 'connected', 'expired'] as const;
export type IntegrationState = (typeof integrationStates)[number];
