/** The mode of a file in octal: 0600. */
export function formatMode(mode: number): string {
  return (mode & 0o777).toString(8).padStart(4, '0');
}
