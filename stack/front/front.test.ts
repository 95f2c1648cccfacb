import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { checkDefinition } from '../definition/check.ts';
import { caddyfile, caddyfileValues } from './caddyfile.ts';
import { checkFront } from './check-front.ts';

const definitionOf = (yaml: string) => checkDefinition(`id: abcdef0123456789\n${yaml}`, 'svc.yaml');

/** As Caddy reads it. */
const withoutComments = (text: string) => text.replaceAll(/^\s*#.*\n/gm, '').trim();

describe('the configuration of the front', () => {
  test('is this', () => {
    const upstreams = ['127.0.0.1:3101', '127.0.0.1:3102'];
    const text = caddyfile(caddyfileValues({ bind: '127.0.0.1', port: 3001, upstreams }));
    const unavailable = (message: string, hint: string) =>
      JSON.stringify({ error: { code: 'unavailable', message, hint } });
    expect(withoutComments(text)).toBe(
      `
{
	admin off
	auto_https off
	grace_period 2s
	log {
		output stderr
		format filter {
			wrap json {
				time_key time
				time_format rfc3339_nano
				name_key name
			}
			fields {
				request>headers delete
			}
		}
		exclude http.handlers.reverse_proxy
	}
	servers {
		protocols h1
		timeouts {
			read_header 15s
			idle 2m
		}
	}
}

http://:3001 {
	bind tcp4/127.0.0.1
	header {
		-Server
		-Via
	}
	reverse_proxy 127.0.0.1:3101 127.0.0.1:3102 {
		lb_policy header Mcp-Session-Id
		lb_try_duration 500ms
		lb_try_interval 50ms
		health_uri /ready
		health_interval 100ms
		health_timeout 3s
		transport http {
			dial_timeout 1s
			keepalive 60s
			keepalive_idle_conns_per_host 1024
			compression off
		}
	}
	handle_errors {
		header -Server
		header Content-Type application/json
		header Cache-Control no-store
		header Retry-After 1
		@ready path /ready
		respond @ready \`{"status":"not ready","missing":["remote-mcp: none of 2 is ready"]}\` 503
		@none expression \`{http.error.status_code} == 503\`
		respond @none \`${unavailable('None of the 2 remote-mcps is ready. The request was not carried out.', 'svc status says why; send it again once one is.')}\` 503
		@unsent expression \`{http.error.message}.contains("dial tcp") || {http.error.message}.contains("invalid Read on closed Body")\`
		respond @unsent \`${unavailable('The remote-mcp that was to have the request has just ended. The request was not carried out.', 'Send it again.')}\` 503
		respond \`${unavailable('The remote-mcp that had the request ended before it answered: it may have been carried out or not.', 'Send it again only if doing it twice does no harm.')}\` 502
	}
}`.trim(),
    );
  });

  test.each([
    ['0.0.0.0', 'tcp4/0.0.0.0'],
    ['192.0.2.1', 'tcp4/192.0.2.1'],
    ['::', '::'],
    ['localhost', 'localhost'],
  ])('on %s listens on %s', (bind, expected) => {
    expect(caddyfile(caddyfileValues({ bind, port: 1, upstreams: ['a:1'] }))).toContain(`\tbind ${expected}\n`);
  });

  test('with a place left open is none', () => {
    expect(() => caddyfile({ PORT: '1' })).toThrow('nothing is said about BIND of Caddyfile');
  });
});

describe('Caddy', () => {
  let dir: string;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'svc-front-'));
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));
  const install = (script: string) => {
    writeFileSync(join(dir, 'caddy'), `#!/bin/sh\n${script}\n`);
    chmodSync(join(dir, 'caddy'), 0o755);
  };
  const two = definitionOf('topology: distributed\nreplicas: { remote-mcp: 2 }');

  test('that is not there is refused, with how to get it', async () => {
    await expect(checkFront(two, dir)).rejects.toMatchObject({
      code: 'unavailable',
      message: 'replicas.remote-mcp above 1 needs caddy, and there is none on the path.',
      hint: expect.stringContaining('the package caddy of your system'),
    });
  });

  test('that is too old is refused, with its version', async () => {
    install('[ "$1" = version ] && echo "v2.5.2 h1:abc"');
    await expect(checkFront(two, dir)).rejects.toMatchObject({
      code: 'unsupported',
      message: `"${dir}/caddy" is of version 2.5.2, and 2.6 or newer is needed.`,
    });
  });

  test.each(['2.6.2', 'v2.10.0 h1:abc=', 'v3.0.0'])('that says %s is taken', async (version) => {
    install(`echo "${version}"`);
    await expect(checkFront(two, dir)).resolves.toBeUndefined();
  });

  test('is needed for several remote-mcps only', async () => {
    for (const yaml of ['', 'topology: distributed', 'topology: distributed\nreplicas: { runtime: 2 }']) {
      await expect(checkFront(definitionOf(yaml), dir)).resolves.toBeUndefined();
    }
  });
});
