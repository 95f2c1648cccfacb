import { readFileSync } from 'node:fs';
import { arch, cpus, platform, release, totalmem } from 'node:os';
import { SvcError } from '../../../services/contracts/errors.ts';
import { withoutKeys } from '../../../services/contracts/keys.ts';
import { inWords } from '../../../services/contracts/system-words.ts';
import { readPlan } from '../../engines/plan-of.ts';
import { sizeText } from '../../machine/size-text.ts';
import { ownVersion } from '../../machine/version.ts';
import { effectiveVariables } from '../../parts/environment.ts';
import { openSecretFinder } from '../../secrets/find-secrets.ts';
import { writeIfAbsent } from '../../state/durable-file.ts';
import { logs } from '../logs.ts';
import { status } from '../status.ts';
import type { Examined, Finding } from './finding.ts';

const logLinesMax = 2000;

export interface Support {
  readonly file: string;
  readonly sizeBytes: number;
}

/**
 * Writes one text file with everything that support asks for. A person can read it before it is sent. Secrets are
 * replaced, and the finished text is searched for them once more.
 */
export async function writeSupport(file: string, findings: readonly Finding[], examined: Examined): Promise<Support> {
  const { installation } = examined;
  const secrets = openSecretFinder(installation);
  const sections = await Promise.all(
    sectionsOf(findings, examined).map(async ({ title, read }) => {
      const text = await read().catch((error: unknown) => `This section could not be read: ${inWords(error)}`);
      return `# ${title}\n\n${secrets.without(withoutKeys(text)).trim()}\n`;
    }),
  );
  const text = sections.join('\n');
  const left = secrets.find(text);
  if (left.length > 0) {
    throw new SvcError('internal', `The support file was not written: it would contain ${left.join(', ')}.`);
  }
  if (!writeIfAbsent(file, text)) {
    throw new SvcError('conflict', `"${file}" exists already.`, { hint: 'Name another file.' });
  }
  return { file, sizeBytes: Buffer.byteLength(text) };
}

interface Section {
  readonly title: string;
  readonly read: () => Promise<string>;
}

function sectionsOf(findings: readonly Finding[], { installation, signal }: Examined): readonly Section[] {
  const asJson = (value: unknown) => JSON.stringify(value, null, 2);
  return [
    { title: 'Machine', read: async () => asJson(machine()) },
    { title: 'Checks', read: async () => asJson(findings) },
    { title: 'Status', read: async () => asJson(await status({ installation, signal })) },
    { title: 'svc.yaml', read: async () => readFileSync(installation.definitionFile, 'utf8') },
    { title: 'Variables of the services', read: async () => asJson(effectiveVariables(readPlan(installation).parts)) },
    { title: `The last ${logLinesMax} lines of the logs`, read: () => lastLogLines({ installation, signal }) },
  ];
}

function machine() {
  return {
    version: ownVersion(),
    time: new Date().toISOString(),
    node: process.version,
    system: `${platform()} ${release()} ${arch()}`,
    processors: cpus().length,
    memory: sizeText(totalmem()),
  };
}

async function lastLogLines({ installation, signal }: Pick<Examined, 'installation' | 'signal'>): Promise<string> {
  const options = { services: [], since: null, level: 'trace', request: null, follow: false } as const;
  const lines: string[] = [];
  for await (const { service, text } of logs({ installation, ...options, lines: logLinesMax, signal })) {
    lines.push(`${service} ${text}`);
  }
  return lines.join('\n');
}
