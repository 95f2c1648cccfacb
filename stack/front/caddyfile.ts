import { isIPv4 } from 'node:net';
import { frontLooksEveryMs } from '../../services/contracts/drain.ts';
import { fillPlaces } from '../fill-places.ts';

/** The template with these values in its places. Throws where one is left open. */
export function caddyfile(values: Readonly<Record<string, string>>): string {
  return fillPlaces(new URL('../../templates/Caddyfile', import.meta.url), values);
}

export interface Front {
  /** What it listens on. */
  readonly bind: string;
  readonly port: number;
  /** What it stands in front of: hosts with their ports. */
  readonly upstreams: readonly string[];
}

/** What stands in the places of the template. */
export function caddyfileValues({ bind, port, upstreams }: Front): Readonly<Record<string, string>> {
  return {
    PORT: String(port),
    // Without it 0.0.0.0 would mean every IPv6 network as well, which it does for no other part.
    BIND: isIPv4(bind) ? `tcp4/${bind}` : bind,
    UPSTREAMS: upstreams.join(' '),
    COUNT: String(upstreams.length),
    LOOK_INTERVAL: `${frontLooksEveryMs}ms`,
  };
}
