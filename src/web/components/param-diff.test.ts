import { describe, expect, test } from 'bun:test'
import { diffOf } from './param-diff.ts'

const KEYS = ['hasOwnProperty', 'a', 'b']

describe('the parameter comparison', () => {
  test.each<[string, Record<string, string>, Record<string, string> | null, string[]]>([
    ['nothing', {}, {}, []],
    ['equal ones last', { a: '1', b: '2' }, { a: '1', b: '3' }, ['b:2|3!', 'a:1|1']],
    [
      'one that is missing before others that differ',
      { a: '1', b: '2' },
      { a: '2', c: '3' },
      ['b:2|null!', 'c:null|3!', 'a:1|2!'],
    ],
    ['one that is missing differs from a blank one', { a: '' }, {}, ['a:|null!']],
    ['one that only the other has', {}, { b: '2' }, ['b:null|2!']],
    ['nothing to compare with', { b: '2', a: '1' }, null, ['a:1|null!', 'b:2|null!']],
    ['names that objects have anyway', { [KEYS[0] as string]: 'x' }, {}, ['hasOwnProperty:x|null!']],
  ])('%s', (_what, left, right, expected) => {
    const rows = diffOf(left, right)
    expect(rows.map(({ key, left, right, differs }) => `${key}:${left}|${right}${differs ? '!' : ''}`)).toEqual(
      expected,
    )
  })

  test('lists parameters of the rule first in their group', () => {
    const keysOf = (right: Record<string, string> | null) =>
      diffOf({ a: '1', b: '2', dl: '3' }, right, ['dl', 'gone']).map(({ key }) => key)
    expect(keysOf(null)).toEqual(['dl', 'a', 'b'])
    expect(keysOf({ a: '2', b: '2', dl: '4' })).toEqual(['dl', 'a', 'b'])
    expect(keysOf({ a: '2', b: '2', dl: '3' })).toEqual(['a', 'dl', 'b'])
  })
})
