import { expect, test } from 'vitest';
import { formOf } from './form-of.ts';

test.each([
  [
    { a: 1, b: [true], c: null, d: [] },
    { a: 'number', b: ['boolean'], c: 'null', d: [] },
  ],
  [[1, 'x', null], ['null | number | string']],
  [[{ a: 1 }, { a: null, b: 'x' }], [{ a: 'null | number', 'b?': 'string' }]],
  [[{ a: 1, b: 'x' }, { a: 2 }, { a: 3, b: 'y' }], [{ a: 'number', 'b?': 'string' }]],
  [[null, { a: 1 }], [{ a: 'number' }]],
  [{ warnings: [] }, { warnings: ['string'] }],
])('%j', (value, form) => {
  expect(formOf(value)).toEqual(form);
});
