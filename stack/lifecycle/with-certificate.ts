import type { ServiceStatus } from './platform-status.ts';
import { missingCertificate } from './served-certificate.ts';

/** A healthy proxy refuses every client while it has no certificate. */
export function withCertificate(urls: { readonly mcp: string }): (service: ServiceStatus) => Promise<ServiceStatus> {
  return async (service) => {
    const { url, health } = service;
    if (health !== 'green' || url === null || !url.startsWith('https://')) return service;
    const reason = await missingCertificate({ url, publicUrl: urls.mcp });
    return reason === null ? service : { ...service, health: 'yellow', reason };
  };
}
