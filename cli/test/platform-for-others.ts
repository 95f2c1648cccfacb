import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import { makeCertificate } from '../../stack/runtime-elsewhere/test/certificate.ts';
import { freePorts } from '../../stack/test/free-ports.ts';
import { Elsewhere } from './elsewhere.ts';
import { type Run, runSvc } from './run-svc.ts';

/** A platform whose bus other machines reach over TLS. It runs for all tests of one file. */
export interface PlatformForOthers {
  /** Folder of the installation. */
  folder(): string;
  /** Address of the bus. */
  bus(): string;
  mcpUrl(): string;
  /** Replaces a text in svc.yaml. */
  edit(from: string, to: string): void;
  svc(...args: string[]): Promise<Run>;
}

export function withPlatformForOthers(): PlatformForOthers {
  let here: Elsewhere | undefined;
  const ports = { bus: 0, mcp: 0 };
  const folder = () => here?.folder ?? expect.fail('The platform is there from the first test on.');
  const svc = (...args: string[]) => runSvc(args, { cwd: folder() });

  function edit(from: string, to: string): void {
    const file = join(folder(), 'svc.yaml');
    const text = readFileSync(file, 'utf8');
    expect(text).toContain(from);
    writeFileSync(file, text.replace(from, to));
  }

  beforeAll(async () => {
    here = new Elsewhere();
    const [port = 0, backend = 0, mcp = 0, runtime = 0, frontend = 0] = await freePorts(5);
    Object.assign(ports, { bus: port, mcp });
    await svc('init', '.', '--yes', '--topology', 'distributed', '--graph', 'sqlite');
    makeCertificate(join(here.folder, 'secrets'), 'bus', 'DNS:localhost');
    const tls = '{ cert: secrets/bus.pem, key: secrets/bus.key, ca: secrets/bus.pem }';
    edit('public: null', `public: { servers: [tls://localhost:${port}], bind: 127.0.0.1, tls: ${tls} }`);
    edit('  port: auto', `  port: ${port}`);
    edit('backend: auto # 3000', `backend: ${backend}`);
    edit('remote-mcp: auto', `remote-mcp: ${mcp}`);
    edit('runtime: auto', `runtime: ${runtime}`);
    edit('frontend: auto # 8888', `frontend: ${frontend}`);
    const { code, stderr } = await svc('up');
    expect(stderr + code).toMatch(/0$/);
    expect(stderr).not.toContain('DeprecationWarning');
  }, 120_000);
  afterAll(async () => {
    if (here === undefined) return;
    await svc('down');
    here[Symbol.dispose]();
  }, 120_000);

  const bus = () => `tls://localhost:${ports.bus}`;
  return { folder, bus, mcpUrl: () => `http://127.0.0.1:${ports.mcp}/mcp`, edit, svc };
}
