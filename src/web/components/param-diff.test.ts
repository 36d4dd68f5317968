import { describe, expect, test } from 'bun:test'
import { diffOf } from './param-diff.ts'

const KEYS = ['hasOwnProperty', 'a', 'b']

describe('the parameter comparison', () => {
  test.each<[string, Record<string, string>, Record<string, string> | null, string[]]>([
    ['no parameters', {}, {}, []],
    ['equal parameters last', { a: '1', b: '2' }, { a: '1', b: '3' }, ['b:2|3!', 'a:1|1']],
    [
      'missing parameters before other differences',
      { a: '1', b: '2' },
      { a: '2', c: '3' },
      ['b:2|null!', 'c:null|3!', 'a:1|2!'],
    ],
    ['a missing parameter differs from a blank one', { a: '' }, {}, ['a:|null!']],
    ['a parameter of the other event only', {}, { b: '2' }, ['b:null|2!']],
    ['no other event', { b: '2', a: '1' }, null, ['a:1|null!', 'b:2|null!']],
    ['names of inherited properties', { [KEYS[0] as string]: 'x' }, {}, ['hasOwnProperty:x|null!']],
  ])('%s', (_what, left, right, expected) => {
    const rows = diffOf(left, right)
    expect(rows.map(({ key, left, right, differs }) => `${key}:${left}|${right}${differs ? '!' : ''}`)).toEqual(
      expected,
    )
  })

  test('lists parameters of the rule first within their group', () => {
    const keysOf = (right: Record<string, string> | null) =>
      diffOf({ a: '1', b: '2', dl: '3' }, right, ['dl', 'gone']).map(({ key }) => key)
    expect(keysOf(null)).toEqual(['dl', 'a', 'b'])
    expect(keysOf({ a: '2', b: '2', dl: '4' })).toEqual(['dl', 'a', 'b'])
    expect(keysOf({ a: '2', b: '2', dl: '3' })).toEqual(['a', 'dl', 'b'])
  })
})
