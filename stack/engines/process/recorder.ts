import { inWords } from '../../../services/contracts/system-words.ts';
import { urlsOf } from '../../lifecycle/urls.ts';
import type { PlatformLogs } from '../../logs/platform-logs.ts';
import type { Part } from '../../parts/part.ts';
import { replacePart, type Settings, settingsOf, settingsOfPart } from '../../plan/differences.ts';
import type { Plan } from '../../plan/plan.ts';
import { writeLease } from '../../ports/port-lease.ts';
import { beat } from '../../state/heartbeat.ts';
import { type PlatformRecord, type ServiceRecord, writeRecord } from '../../state/platform-record.ts';
import { ownIdentity, type ProcessIdentity } from '../../state/process-identity.ts';
import { isPlatformUp, isUp, type ServiceEvent, transition } from '../../state/transition.ts';
import type { LeftParts } from './take-over.ts';

export interface Recording {
  readonly plan: Plan;
  /** What an earlier supervisor left running. */
  readonly left: LeftParts;
  readonly foreground: boolean;
  readonly logs: PlatformLogs;
  readonly onChange: (record: PlatformRecord) => void;
}

/** How many ends are kept with their reasons. All ends are counted. */
const endsKept = 5;

/** Keeps state/process.json current. A command that starts a platform follows it, and every other command reads what runs. */
export class Recorder {
  readonly #recording: Recording;
  #record: PlatformRecord;
  /** Whether parts ran before this supervisor, or all parts were healthy once. */
  #isUp: boolean;
  #hasKeptPorts = false;
  #isUnwritten = false;

  constructor(recording: Recording) {
    const { plan, left, foreground } = recording;
    this.#recording = recording;
    this.#isUp = left.parts.length > 0;
    this.#record = {
      ...ownIdentity(),
      version: plan.version,
      topology: plan.definition.topology,
      foreground,
      settings: settingsWith(left, plan),
      urls: urlsOf(plan.addresses),
      services: servicesWith(left, plan),
      isChanging: true,
    };
    this.#write();
  }

  /** Shows that the supervisor responds, and writes a record that could not be written. */
  beat(): void {
    if (this.#isUnwritten) this.#write({ isNeeded: false, isNoted: false });
    beat(this.#recording.plan.installation);
  }

  /** Records that every part has been started or tried. */
  settled(): void {
    this.#record = { ...this.#record, isChanging: false };
    this.#keepPortsOnceUp();
    this.#write({ isNeeded: false });
  }

  /** Records the end of a part that had to make way for others. The plan may not have it. */
  ended(name: string): void {
    const isPlanned = this.#recording.plan.parts.some((part) => part.name === name);
    const { settings, services } = this.#record;
    this.#record = {
      ...this.#record,
      settings: replacePart(settings, name, {}),
      services: services.flatMap((service) => {
        if (service.name !== name) return [service];
        return isPlanned ? [moveService(service, 'stop')] : [];
      }),
    };
    this.#write({ isNeeded: false });
  }

  /** May throw for a start, which then fails. Never throws for a stop. */
  moved(part: Part, event: ServiceEvent): void {
    this.#change(part, (service) => moveService(service, event));
    if (event === 'start') {
      const settings = replacePart(this.#record.settings, part.name, settingsOfPart(part));
      this.#record = { ...this.#record, settings };
    }
    this.#keepPortsOnceUp();
    this.#write({ isNeeded: event === 'start' || event === 'ready' });
    this.#isUp ||= this.#record.services.every(isUp);
    if (event === 'lost')
      this.#recording.logs.note('error', 'a part lost its data and was not started', { part: part.name });
  }

  born(part: Part, process: ProcessIdentity): void {
    const { url, ready } = part;
    this.#change(part, (service) => ({ ...service, url, ready, process }));
    this.#write();
  }

  /** Records that a part ended unexpectedly, or did not get ready. `reason` follows its name. */
  broke(part: Part, reason: string): void {
    const end = { at: new Date().toISOString(), reason };
    this.#change(part, (service) => ({
      ...service,
      process: null,
      endCount: service.endCount + 1,
      lastEnds: [...service.lastEnds, end].slice(-endsKept),
    }));
    this.#recording.logs.note('error', 'a part ended unexpectedly', { part: part.name, reason });
  }

  #change({ name }: Part, change: (service: ServiceRecord) => ServiceRecord): void {
    const services = this.#record.services.map((service) => (service.name === name ? change(service) : service));
    this.#record = { ...this.#record, services };
  }

  /** The ports are fixed before a client can see that the platform is up. */
  #keepPortsOnceUp(): void {
    if (this.#hasKeptPorts || !isPlatformUp(this.#record)) return;
    const { installation, ports, wishes } = this.#recording.plan;
    writeLease(installation, ports, wishes);
    this.#hasKeptPorts = true;
  }

  /** A start that cannot be recorded fails. A running platform continues on a full disk and without state/. */
  #write({ isNeeded = true, isNoted = true } = {}): void {
    this.#isUnwritten = true;
    try {
      writeRecord(this.#recording.plan.installation, this.#record);
      this.#isUnwritten = false;
    } catch (error) {
      if (isNeeded && !this.#isUp) throw error;
      if (isNoted) this.#recording.logs.note('error', 'the record could not be written', { reason: inWords(error) });
    }
    this.#recording.onChange(this.#record);
  }
}

/** The parts of the plan, and the left parts that it no longer has. */
function servicesWith({ record, parts }: LeftParts, plan: Plan): ServiceRecord[] {
  const isLeft = new Set(parts.map(({ name }) => name));
  const before = new Map(record?.services.map((service) => [service.name, service]));
  const planned = plan.parts.map((part) => {
    const known = before.get(part.name);
    if (known === undefined) return plannedPart(part);
    const { endCount, lastEnds } = known;
    return isLeft.has(part.name) ? known : { ...plannedPart(part), endCount, lastEnds };
  });
  const names = new Set(plan.parts.map(({ name }) => name));
  const others = record?.services.filter(({ name }) => isLeft.has(name) && !names.has(name)) ?? [];
  return [...planned, ...others];
}

/** A left part runs with its old settings until it starts again. */
function settingsWith({ record, parts }: LeftParts, plan: Plan): Settings {
  const old = record?.settings ?? {};
  return parts.reduce<Settings>((settings, { name }) => replacePart(settings, name, old), settingsOf(plan));
}

function plannedPart({ name, url, ready }: Part): ServiceRecord {
  const since = new Date().toISOString();
  return { name, state: 'planned', since, url, ready, process: null, endCount: 0, lastEnds: [] };
}

function moveService(service: ServiceRecord, event: ServiceEvent): ServiceRecord {
  const state = transition(service.state, event);
  if (state === service.state) return service;
  return {
    ...service,
    state,
    process: state === 'stopped' || state === 'lost' ? null : service.process,
    since: new Date().toISOString(),
  };
}
