/**
 * Starts the application without anything in memory of the person before. The way back may come from another site, so
 * it is only a path of this one.
 */
export function enter(back: string | undefined): void {
  const { origin } = window.location;
  const url = URL.parse(back ?? '/', origin);
  window.location.replace(url?.origin === origin ? url : '/');
}
