import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { writeContainers } from '../state/containers-record.ts';
import { installationIn } from '../state/installation.ts';
import { dockerEngine } from './docker/engine.ts';
import { chosenEngine, engineOf } from './engine-of.ts';
import { processEngine } from './process/engine.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'svc-engine-'));
});
afterEach(() => rmSync(dir, { recursive: true }));

const openWith = () => {
  const installation = installationIn(dir);
  const choose = (engine: string) => {
    const yaml = `id: abcdef0123456789\ntopology: distributed\nengine: ${engine}\n`;
    writeFileSync(installation.definitionFile, yaml);
    return chosenEngine(installation);
  };
  return { installation, choose };
};

test.each(['graph.sqlite', 'nats', 'nats-cluster', 'dgraph/alpha'])(
  'containers never start empty beside data of processes: data/%s',
  (kept) => {
    const { installation, choose } = openWith();
    expect(choose('docker')).toBe(dockerEngine);
    mkdirSync(join(installation.dataDir, kept), { recursive: true });
    expect(() => choose('docker')).toThrow('svc.yaml says engine: docker, and the data of this platform is in data/.');
    expect([choose('process'), engineOf(installation)]).toEqual([processEngine, processEngine]);
  },
);

test('processes never start empty beside volumes of containers', () => {
  const { installation, choose } = openWith();
  mkdirSync(installation.stateDir);
  const urls = { app: '', api: '', mcp: '', runtime: '', keys: '' };
  const none = { settings: {}, services: [], images: {}, volumes: [] };
  const daemon = { id: 'A', socket: '/nowhere' };
  writeContainers(installation, { isUp: false, version: '1', user: '1000:1000', urls, daemon, ...none });
  expect(() => choose('process')).toThrow(
    "svc.yaml says engine: process, and the data of this platform is in Docker's volumes.",
  );
  expect([choose('docker'), engineOf(installation)]).toEqual([dockerEngine, dockerEngine]);
});
