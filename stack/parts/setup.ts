import { readFileSync } from 'node:fs';
import { basename, relative } from 'node:path';
import type { SecretFiles } from '../secrets/secrets.ts';
import { type Addresses, reachable } from '../settings/addresses.ts';
import type { Definition } from '../settings/definition.ts';
import type { Ports, PortWish } from '../settings/ports.ts';
import type { Installation } from '../state/installation.ts';
import type { PartData, PublishedPort, SiteFile } from './part.ts';

export interface Setup {
  readonly installation: Installation;
  readonly definition: Definition;
  /** Every port that its parts listen on. */
  readonly wishes: readonly PortWish[];
  readonly ports: Ports;
  readonly addresses: Addresses;
  readonly secrets: SecretFiles;
  readonly site: Site;
}

/** Addresses and paths as a part sees them from where it runs. */
export interface Site {
  /** A private site is its own network: programs of this machine reach only published ports. */
  readonly isPrivate: boolean;
  /** The ports that parts listen on, by name. */
  readonly ports: Ports;
  /** The listen address that replaces this one. */
  listenOn(host: string): string;
  /** The host of a part that listens on `host`, for other parts. */
  hostOf(part: string, host: string): string;
  /** The path of a file of this machine. */
  pathOf(file: string): string;
  /** The path of a part's data, or of a file in it. */
  dataPathOf(data: PartData, file?: string): string;
  /** A folder for files that the part may lose. */
  scratchPathOf(part: string): string;
}

/** Collects the files that a part reads while its variables are written. */
export class PartFiles {
  readonly #site: Site;
  readonly #files = new Map<string, SiteFile>();

  constructor({ site }: Pick<Setup, 'site'>) {
    this.#site = site;
  }

  /** The path of a file as the part sees it. */
  readonly give = (file: string): string => {
    const path = this.#site.pathOf(file);
    this.#files.set(file, { file, path });
    return path;
  };

  all(): readonly SiteFile[] {
    return [...this.#files.values()];
  }
}

/** An empty variable is an unset one. */
export function given(name: string, value: string): Record<string, string> {
  return value === '' ? {} : { [name]: value };
}

export function portNamed(name: string, { wishes }: Setup): PortWish {
  const found = wishes.find((wish) => wish.name === name);
  if (found === undefined) throw new Error(`the plan has no port ${name}`);
  return found;
}

/** The first port that a part listens on. */
export function portOf(part: string, { wishes }: Setup): PortWish {
  const found = wishes.find((wish) => wish.part === part);
  if (found === undefined) throw new Error(`the plan has no port of ${part}`);
  return found;
}

/** Host and port of a part: from this machine if possible, else from other parts. */
export function addressOf(wish: PortWish, setup: Setup): string {
  const { name, host, isPublished } = wish;
  return isPublished ? `${reachable(host)}:${setup.ports[name]}` : addressAmongParts(wish, setup);
}

export function addressAmongParts({ name, part, host }: PortWish, { site }: Setup): string {
  return `${site.hostOf(part, host)}:${site.ports[name]}`;
}

/** The ports of a part that are reached from outside of the platform. */
export function publishedBy(part: string, { wishes, ports, site }: Setup): readonly PublishedPort[] {
  return wishes
    .filter((wish) => wish.part === part && wish.isPublished)
    .map(({ name, host }) => ({ inside: site.ports[name] ?? 0, host, port: ports[name] ?? 0 }));
}

/** A path for a program that runs in the installation's folder and does not accept every character. */
export function fromFolder(path: string, { installation, site }: Setup): string {
  return site.isPrivate ? path : relative(installation.dir, path);
}

/** Fills the named placeholders of a template with these values. Throws when one is left. */
export function fillPlaces(template: URL, values: Readonly<Record<string, string>>): string {
  return readFileSync(template, 'utf8').replace(/\$\{(\w+)\}/g, (_, name: string) => {
    const value = values[name];
    if (value === undefined) throw new Error(`${basename(template.pathname)} has no value for ${name}`);
    return value;
  });
}
