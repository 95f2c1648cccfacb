/** Addresses that are invited at once. Each is a request, and a mail. */
export const addressesMax = 50;

/** The e-mail addresses of a text, each once: between spaces, line breaks, commas or semicolons, also as `Ann <ann@example.com>`. */
export function typedAddresses(text: string): readonly string[] {
  const bracketed = [...text.matchAll(/<([^<>\s]+)>/g)].map(([, address = '']) => address);
  const words = bracketed.length > 0 ? bracketed : text.split(/[\s,;]+/);
  return [...new Set(words.map((word) => word.toLowerCase()).filter((word) => word !== ''))];
}
