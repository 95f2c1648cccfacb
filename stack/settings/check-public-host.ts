import { isIP } from 'node:net';
import { addressesOf } from './addresses.ts';
import type { Definition } from './definition.ts';
import { usualPorts } from './ports.ts';
import type { Mistake, YamlText } from './yaml-text.ts';

/** Rules between the fields of `public` and other settings. */
export function wrongPublicHost(definition: Definition, text: YamlText): readonly Mistake[] {
  const { host, tls, cert, key, acme } = definition.public;
  const given = { cert, key, 'acme.email': acme.email, 'acme.ca': acme.ca };
  const wrong = (field: string, message: string): Mistake => ({
    ...text.locate(['public', ...field.split('.')]),
    message: `public.${field} ${message}.`,
  });
  const mistakes: Mistake[] = [];
  if (host === undefined && tls !== 'none')
    mistakes.push(wrong('tls', `${tls} needs public.host, the name that the certificate is for`));
  for (const [field, value] of Object.entries(given)) {
    const belongsTo = field.startsWith('acme') ? 'acme' : 'files';
    if (value !== undefined && tls !== belongsTo)
      mistakes.push(wrong(field, `is for tls: ${belongsTo}, and public.tls is ${tls}`));
    if (value === undefined && tls === belongsTo && tls === 'files')
      mistakes.push(wrong('tls', `files needs public.${field}`));
  }
  if (host === undefined) return mistakes;
  if (definition.topology === 'embedded') {
    mistakes.push(
      wrong(
        'host',
        'needs topology: distributed. With topology: embedded there is one process, which cannot supervise Caddy',
      ),
    );
  }
  if (tls === 'acme' && !canBeCertified(host)) {
    mistakes.push(wrong('host', `must be a public name for tls: acme, not "${host}"`));
  }
  return [...mistakes, ...addressesElsewhere(definition, text)];
}

/** RFC 8555 §7.1.3 allows names only, and no one can prove to own localhost. */
function canBeCertified(host: string): boolean {
  return isIP(host) === 0 && !/(^|\.)localhost$/.test(host);
}

/**
 * An address set by hand may have another scheme or port, because another proxy may be in front; host and path must be
 * those that are answered.
 */
function addressesElsewhere(definition: Definition, text: YamlText): readonly Mistake[] {
  const { publicUrls } = definition;
  const auto = { ...definition, publicUrls: { backend: 'auto', mcp: 'auto', frontend: 'auto' } } as const;
  const usual = addressesOf(auto, usualPorts).public;
  return (['backend', 'mcp', 'frontend'] as const).flatMap((name) => {
    const given = publicUrls[name];
    if (given === 'auto' || placeOf(given) === placeOf(usual[name])) return [];
    const message = `publicUrls.${name} must have the host and the path of ${usual[name]} with public.host, or be auto.`;
    return [{ ...text.locate(['publicUrls', name]), message }];
  });
}

function placeOf(url: string): string {
  const { hostname, pathname } = new URL(url);
  return `${hostname}${pathname.replace(/\/$/, '')}`;
}
