import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { checkFront } from '../engines/process/check-programs.ts';
import { checkDefinition } from '../settings/check.ts';
import { caddyfile, caddyfileValues } from './caddyfile.ts';

const definitionOf = (yaml: string) => checkDefinition(`id: abcdef0123456789\n${yaml}`, 'svc.yaml');

/** As Caddy reads it. */
const withoutComments = (text: string) => text.replaceAll(/^\s*#.*\n/gm, '').trim();

const upstreams = {
  'remote-mcp': ['127.0.0.1:3001', '127.0.0.1:3102'],
  backend: ['127.0.0.1:3000'],
  frontend: ['127.0.0.1:8888'],
};
const open = definitionOf(`topology: distributed
public:
  host: agents.example.com
  tls: acme
  acme: { email: ops@example.com, directory: "https://ca.example.com/directory", ca: secrets/ca.pem }`).public;
const oneHost = { public: open, httpPort: 80, httpsPort: 443, origin: 'https://agents.example.com' };
const shared = { bind: '127.0.0.1', ports: { 'remote-mcp': 3001 } };
const storage = 'data/caddy';
const front = { bind: '0.0.0.0', upstreams, shared, storage, oneHost };
const acmeLines = (more: readonly string[], ports: readonly string[]) =>
  ['tls {', '\tissuer acme {', ...[...more, ...ports].map((line) => `\t\t${line}`), '\t}', '}'].join('\n\t\t');

describe('the configuration of the front', () => {
  test('under one host name, with certificates of an authority, is exactly this', () => {
    const text = caddyfile(caddyfileValues(front));
    expect(withoutComments(text).replaceAll(/\n{2,}/g, '\n\n')).toBe(
      `
{
	admin off
	default_bind tcp4/0.0.0.0
	auto_https disable_redirects
	grace_period 2s
	storage file_system data/caddy
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

(those-that-are-ready) {
	lb_try_duration 500ms
	lb_try_interval 50ms
	health_uri /ready
	health_interval 100ms
	health_timeout 3s
}

(connections) {
	transport http {
		dial_timeout 1s
		keepalive 60s
		keepalive_idle_conns_per_host 1024
		compression off
	}
}

(remote-mcp) {
	vars service remote-mcp
	vars count 2
	vars none "None of the 2 remote-mcps is ready"
	reverse_proxy 127.0.0.1:3001 127.0.0.1:3102 {
		lb_policy header Mcp-Session-Id
		import those-that-are-ready
		import connections
	}
}

(backend) {
	vars service backend
	vars count 1
	vars none "The backend is not ready"
	reverse_proxy 127.0.0.1:3000 {
		import those-that-are-ready
		import connections
	}
}

(frontend) {
	vars service frontend
	vars count 1
	vars none "The frontend is not ready"
	reverse_proxy 127.0.0.1:8888 {
		import those-that-are-ready
		import connections
	}
}

(answers) {
	header {
		-Server
		-Via
	}
	handle_errors {
		header -Server
		header Content-Type application/json
		header Cache-Control no-store
		header Retry-After 1
		@ready path /ready
		respond @ready \`{"status":"not ready","missing":["{vars.service}: none of {vars.count} is ready"]}\` 503
		@none expression \`{http.error.status_code} == 503\`
		respond @none \`{"error":{"code":"unavailable","message":"{vars.none}. The request was not carried out.","hint":"svc status says why; send it again once one is."}}\` 503
		@unsent expression \`{http.error.message}.contains("dial tcp") || {http.error.message}.contains("invalid Read on closed Body")\`
		respond @unsent \`{"error":{"code":"unavailable","message":"The {vars.service} that was to have the request has just ended. The request was not carried out.","hint":"Send it again."}}\` 503
		respond \`{"error":{"code":"unavailable","message":"The {vars.service} that had the request ended before it answered: it may have been carried out or not.","hint":"Send it again only if doing it twice does no harm."}}\` 502
	}
}
(paths) {
	@remote-mcp vars_regexp {http.request.uri} ^/(mcp|health|\\.well-known/oauth-protected-resource(/[^?]*)?)(\\?|$)
	@backend vars_regexp {http.request.uri} ^/(graphql|files/[0-9a-f]+|oauth/[^?]*|\\.well-known/[^?]*)(\\?|$)
	@whether-ready vars_regexp {http.request.uri} ^/ready(\\?|$)
	handle @remote-mcp {
		import remote-mcp
	}
	handle @backend {
		import backend
	}
	handle @whether-ready {
		vars service backend
		vars count 1
		header Content-Type application/json
		header Cache-Control no-store
		reverse_proxy 127.0.0.1:3000 {
			transport http {
				dial_timeout 1s
				response_header_timeout 3s
				compression off
			}
			@yes status 200
			handle_response @yes {
				respond \`{"status":"ready"}\` 200
			}
			handle_response {
				respond \`{"status":"not ready"}\` 503
			}
		}
	}
	handle {
		import frontend
	}
}

(elsewhere) {
	handle {
		header {
			-Server
			Content-Type application/json
			Cache-Control no-store
		}
		respond \`{"error":{"code":"not_found","message":"The platform does not use this host name.","hint":"The platform is at https://agents.example.com."}}\` 421
	}
}
(own-readiness) {
	handle /ready {
		header Content-Type application/json
		respond \`{"status":"ready"}\` 200
	}
}
(shared-remote-mcp) {
	http://:3001 {
		bind tcp4/127.0.0.1
		import answers
		import remote-mcp
	}
}

(shared-backend) {
	http://: {
		bind tcp4/127.0.0.1
		import answers
		import backend
	}
}
(one-host) {
	http://agents.example.com:80 {
		import answers
		import paths
	}
	http://:80 {
		import own-readiness
		import elsewhere
	}
}

(one-host-over-tls) {
	https://agents.example.com:443 {
		tls {
			issuer acme {
				dir "https://ca.example.com/directory"
				email "ops@example.com"
				trusted_roots "secrets/ca.pem"
				alt_http_port 80
				alt_tlsalpn_port 443
			}
		}
		header Strict-Transport-Security max-age=31536000
		import answers
		import paths
	}
	https://:443 {
		import elsewhere
	}
	http://:80 {
		header -Server
		import own-readiness
		handle {
			redir https://agents.example.com{uri} 308
		}
	}
}

import shared-remote-mcp
import one-host-over-tls`.trim(),
    );
  });

  test('with certificate files differs in these places', () => {
    const files = definitionOf(
      'topology: distributed\npublic: { host: a.example.com, tls: files, cert: secrets/a b.pem, key: /etc/a.key }',
    ).public;
    const its = { ...oneHost, public: files, httpPort: 8080, httpsPort: 8443 };
    expect(caddyfileValues({ ...front, bind: '127.0.0.1', oneHost: its })).toEqual({
      ...caddyfileValues(front),
      AUTO_HTTPS: 'off',
      BIND: 'tcp4/127.0.0.1',
      HOST: 'a.example.com',
      HTTP_PORT: '8080',
      HTTPS_PORT: '8443',
      TLS: 'tls "secrets/a b.pem" "/etc/a.key"',
    });
  });

  test('with minimal acme settings uses the usual authority', () => {
    const least = definitionOf('topology: distributed\npublic: { host: a.example.com, tls: acme }').public;
    const { TLS } = caddyfileValues({
      ...front,
      oneHost: { ...oneHost, public: least, httpPort: 8080, httpsPort: 8443 },
    });
    expect(TLS).toBe(
      acmeLines(
        ['dir "https://acme-v02.api.letsencrypt.org/directory"'],
        ['alt_http_port 8080', 'alt_tlsalpn_port 8443'],
      ),
    );
  });

  test('without TLS has one site for everything', () => {
    const plain = definitionOf('topology: distributed\npublic: { host: a.example.com }').public;
    expect(
      caddyfileValues({
        ...front,
        oneHost: { public: plain, httpPort: 80, httpsPort: 0, origin: 'http://a.example.com' },
      }),
    ).toEqual({
      ...caddyfileValues(front),
      AUTO_HTTPS: 'off',
      HOST: 'a.example.com',
      HTTPS_PORT: '0',
      ORIGIN: 'http://a.example.com',
      SITES: 'import shared-remote-mcp\nimport one-host',
      TLS: '',
    });
  });

  test('of several processes of a service has nothing else', () => {
    const ofThree = ['127.0.0.1:3101', '127.0.0.1:3102', '127.0.0.1:3103'];
    const behind = { 'remote-mcp': ofThree, backend: [], frontend: [] };
    const values = caddyfileValues({ bind: '127.0.0.1', upstreams: behind, shared, storage, oneHost: null });
    expect(values).toEqual({
      SITES: 'import shared-remote-mcp',
      STORAGE: 'data/caddy',
      AUTO_HTTPS: 'off',
      BIND: 'tcp4/127.0.0.1',
      SHARED_BIND: 'tcp4/127.0.0.1',
      LOOK_INTERVAL: '100ms',
      REMOTE_MCP: '127.0.0.1:3101 127.0.0.1:3102 127.0.0.1:3103',
      REMOTE_MCP_PORT: '3001',
      ...{ HTTP_PORT: '', HTTPS_PORT: '', HOST: '', ORIGIN: '', TLS: '' },
      ...{ BACKEND: '', BACKEND_PORT: '', FRONTEND: '' },
    });
    expect(caddyfile(values)).toMatch(/\n\nimport shared-remote-mcp\n$/);
  });

  test('has a site for each service with several processes', () => {
    const both = { bind: '0.0.0.0', ports: { 'remote-mcp': 3001, backend: 3000 } };
    const text = caddyfile(caddyfileValues({ ...front, shared: both, oneHost: null }));
    expect(text).toMatch(/\n\nimport shared-remote-mcp\nimport shared-backend\n$/);
    expect(text).toContain('\thttp://:3000 {\n\t\tbind tcp4/0.0.0.0\n');
  });

  test.each([
    ['0.0.0.0', 'tcp4/0.0.0.0'],
    ['192.0.2.1', 'tcp4/192.0.2.1'],
    ['::', '::'],
    ['localhost', 'localhost'],
  ])('on %s listens on %s', (bind, expected) => {
    expect(caddyfile(caddyfileValues({ ...front, bind }))).toContain(`\tdefault_bind ${expected}\n`);
  });

  test('with an unfilled placeholder is refused', () => {
    expect(() => caddyfile({ AUTO_HTTPS: 'off' })).toThrow('Caddyfile has no value for BIND');
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

  test('a missing program is refused, with the way to install it', async () => {
    await expect(checkFront(two, dir)).rejects.toMatchObject({
      code: 'unavailable',
      message: 'replicas.remote-mcp above 1 needs caddy, which is not on PATH.',
      hint: expect.stringContaining('the package caddy of your system'),
    });
  });

  test('that is too old is refused, with its version', async () => {
    install('[ "$1" = version ] && echo "v2.5.2 h1:abc"');
    await expect(checkFront(two, dir)).rejects.toMatchObject({
      code: 'unsupported',
      message: `"${dir}/caddy" has version 2.5.2, and 2.6 or newer is needed.`,
    });
  });

  test.each(['2.6.2', 'v2.10.0 h1:abc=', 'v3.0.0'])('that prints %s is accepted', async (version) => {
    install(`echo "${version}"`);
    await expect(checkFront(two, dir)).resolves.toBeUndefined();
  });

  test('is needed for one host name too', async () => {
    const one = definitionOf('topology: distributed\npublic: { host: agents.example.com }');
    await expect(checkFront(one, dir)).rejects.toMatchObject({
      message: 'public.host needs caddy, which is not on PATH.',
    });
  });

  test('is needed for several backends too', async () => {
    const backends = definitionOf('topology: distributed\ngraph: dgraph\nreplicas: { backend: 3 }');
    await expect(checkFront(backends, dir)).rejects.toMatchObject({
      message: 'replicas.backend above 1 needs caddy, which is not on PATH.',
    });
  });

  test('is needed for these only', async () => {
    for (const yaml of ['', 'topology: distributed', 'topology: distributed\nreplicas: { runtime: 2 }']) {
      await expect(checkFront(definitionOf(yaml), dir)).resolves.toBeUndefined();
    }
  });
});
