import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { SvcError } from '../../services/contracts/errors.ts';
import { hostOf } from '../../services/contracts/host-of.ts';
import { inWords } from '../../services/contracts/system-words.ts';
import { listenProblem } from '../machine/is-free.ts';
import {
  authorityProblems,
  type CertificateProblem,
  certificateProblems,
  tlsFilesIn,
} from '../settings/certificate.ts';
import type { Definition } from '../settings/definition.ts';
import { describeMistakes, type Path, YamlText } from '../settings/yaml-text.ts';
import type { Installation } from '../state/installation.ts';

interface Wrong {
  readonly path: Path;
  readonly message: string;
}

/** Refuses addresses and certificates that this machine cannot provide, with their place in svc.yaml. */
export async function checkMachine(installation: Installation, definition: Definition): Promise<void> {
  const { bind, bus } = definition;
  const wrong = await wrongBind(['bind'], bind);
  if (bus.public !== undefined) wrong.push(...(await wrongBind(['bus', 'public', 'bind'], bus.public.bind)));
  wrong.push(...wrongBusCertificate(installation, definition), ...wrongPublicCertificate(installation, definition));
  if (wrong.length > 0) throw mistaken(installation.definitionFile, wrong);
}

function wrongBusCertificate({ dir }: Installation, { bus }: Definition): readonly Wrong[] {
  if (bus.public?.tls == null) return [];
  const hosts = bus.public.servers.map(hostOf);
  const files = tlsFilesIn(dir, bus.public.tls);
  return wrongFiles(['bus', 'public', 'tls'], certificateProblems({ files, hosts, hostsPlace: 'bus.public.servers' }));
}

function wrongPublicCertificate({ dir }: Installation, { public: open, publicUrls }: Definition): readonly Wrong[] {
  const { host, cert, key, acme } = open;
  if (acme.ca !== undefined) return wrongFiles(['public', 'acme'], authorityProblems(resolve(dir, acme.ca)));
  if (host === undefined || cert === undefined || key === undefined) return [];
  const files = tlsFilesIn(dir, { cert, key, ca: null });
  const ofHost = certificateProblems({ files, hosts: [host], hostsPlace: 'public.host' });
  const hosts = publicUrls.keys === undefined ? [] : [hostOf(publicUrls.keys)];
  const ofKeys = certificateProblems({ files, hosts, hostsPlace: 'publicUrls.keys' });
  // Both name each other fault of the files.
  const others = ofKeys.filter(({ why }) => ofHost.every((one) => one.why !== why));
  return wrongFiles(['public'], [...ofHost, ...others]);
}

function wrongFiles(place: Path, problems: readonly CertificateProblem[]): readonly Wrong[] {
  return problems.map(({ part, why }) => ({
    path: [...place, part],
    message: `${[...place, part].join('.')} ${why}.`,
  }));
}

async function wrongBind(path: Path, bind: string): Promise<Wrong[]> {
  const problem = await listenProblem(bind);
  if (problem === null) return [];
  const rule = `must be an address of this machine, not "${bind}": ${inWords(problem)}`;
  const help = '127.0.0.1 is this machine only; 0.0.0.0 is every network of it';
  return [{ path, message: `${path.join('.')} ${rule}. ${help}.` }];
}

function mistaken(file: string, wrong: readonly Wrong[]): SvcError {
  const yaml = new YamlText(readFileSync(file, 'utf8'));
  for (const { path, message } of wrong) yaml.add(path, message);
  return new SvcError('invalid_input', describeMistakes(file, yaml.mistakes), {
    hint: 'Correct svc.yaml, then check it: svc config check',
  });
}
