/** One thing that goes wrong, for a while. When it returns, what was taken is given back or comes back by itself. */
export interface Fault {
  readonly name: string;
  readonly happen: () => Promise<void>;
}
