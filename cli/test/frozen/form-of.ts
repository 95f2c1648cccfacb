/** The form of a JSON value: names and types, without the values that differ from run to run. */
export function formOf(value: unknown): unknown {
  if (value === null) return 'null';
  if (Array.isArray(value)) return value.length === 0 ? [] : [value.map(formOf).reduce(merged)];
  if (typeof value !== 'object') return typeof value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, formOfMember(name, one)]));
}

/** Lists of texts that may be empty: warnings depend on the machine, and standard error may arrive late. */
const byChance = ['warnings', 'stderr'];

function formOfMember(name: string, value: unknown): unknown {
  return byChance.includes(name) && Array.isArray(value) ? ['string'] : formOf(value);
}

/** The common form of two values. A member that only one of them has is marked with `?`. */
function merged(a: unknown, b: unknown): unknown {
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === 0 || b.length === 0 ? [...a, ...b] : [merged(a[0], b[0])];
  if (isObject(a) && isObject(b)) {
    const names = new Set([...Object.keys(a), ...Object.keys(b)].map((name) => name.replace(/\?$/, '')));
    return Object.fromEntries([...names].map((name) => mergedMember(a, b, name)));
  }
  if (isObject(a) || isObject(b)) return a === 'null' ? b : a;
  return [...new Set([...String(a).split(' | '), ...String(b).split(' | ')])].sort().join(' | ');
}

function mergedMember(a: Form, b: Form, name: string): readonly [string, unknown] {
  const [one, other] = [a[name] ?? a[`${name}?`], b[name] ?? b[`${name}?`]];
  if (name in a && name in b) return [name, merged(one, other)];
  return [`${name}?`, one === undefined || other === undefined ? (one ?? other) : merged(one, other)];
}

type Form = Readonly<Record<string, unknown>>;

function isObject(form: unknown): form is Form {
  return typeof form === 'object' && form !== null && !Array.isArray(form);
}
