/** Whether a URL leads to this machine, by its host name as `URL` writes it. */
export function isLocalHost({ hostname }: Pick<URL, 'hostname'>): boolean {
  return ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
}
