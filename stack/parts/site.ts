import type { Ports } from '../settings/ports.ts';
import type { PartData } from './part.ts';

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
