import { expect, test } from 'bun:test'
import { multiple, nameList, optional, sortParam, text } from './param-types.ts'
import { searchFrom, searchOf } from './view-search.ts'

const FIELDS = {
  q: text,
  status: multiple(['open', 'muted'], ['open']),
  domainId: nameList,
  enabled: optional(['true', 'false']),
  sort: sortParam(['name'], 'name'),
}
const DEFAULTS = { q: '', status: ['open'], domainId: [], enabled: null, sort: 'name' } as const

test.each([
  [DEFAULTS, ''],
  [{ ...DEFAULTS, q: 'a&b=ü' }, 'q=a%26b%3D%C3%BC'],
  [{ ...DEFAULTS, status: [] }, 'status='],
  [
    { ...DEFAULTS, status: ['open', 'muted'], domainId: ['dom_1', 'dom_2'] },
    'status=open%2Cmuted&domainId=dom_1%2Cdom_2',
  ],
  [{ ...DEFAULTS, enabled: 'false', sort: '-name' }, 'enabled=false&sort=-name'],
] as const)('%j is saved as %s and restored', (values, search) => {
  expect(searchOf(FIELDS, values)).toBe(search)
  expect(searchFrom(FIELDS, search)).toEqual(values as never)
})

test('invalid values and unknown names are ignored', () => {
  expect(searchFrom(FIELDS, 'status=gone&enabled=maybe&other=1')).toEqual(DEFAULTS as never)
})
