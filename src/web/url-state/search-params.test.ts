import { describe, expect, test } from 'bun:test'
import { choice, multiple, nameList, optional, text, timestamp } from './param-types.ts'
import { parseSearch, readSearch, SHARED_PARAMS, valuesOf, writeSearch } from './search-params.ts'

const FIELDS = {
  ...SHARED_PARAMS,
  q: text,
  status: multiple(['open', 'acknowledged', 'resolved', 'muted'], ['open', 'acknowledged']),
  sort: choice(['severity', 'lastSeenAt'], 'severity'),
  show: optional(['table']),
  domainId: nameList,
  at: timestamp,
}

describe('a URL query', () => {
  test.each<[string, object, object[]]>([
    ['', {}, []],
    ['?status=open', { status: ['open'] }, []],
    ['?status=muted,open', { status: ['open', 'muted'] }, []],
    ['?status=open&status=muted', { status: ['open', 'muted'] }, []],
    ['?status=open,acknowledged', {}, []],
    ['?status=purple', {}, [{ name: 'status', text: 'purple' }]],
    ['?status=open,purple&q=a', { status: ['open'], q: 'a' }, [{ name: 'status', text: 'purple' }]],
    ['?status=purple,open,acknowledged,pink', {}, [{ name: 'status', text: 'purple,pink' }]],
    ['?sort=severity,lastSeenAt', {}, [{ name: 'sort', text: 'severity,lastSeenAt' }]],
    ['?range=24h&sort=severity', {}, []],
    ['?range=7d', { range: '7d' }, []],
    ['?range=8d', {}, [{ name: 'range', text: '8d' }]],
    ['?from=1&to=2', { from: 1, to: 2 }, []],
    ['?from=-1', {}, [{ name: 'from', text: '-1' }]],
    ['?q=', {}, []],
    ['?q=7', { q: '7' }, []],
    ['?foo=1', {}, [{ name: 'foo', text: '1' }]],
    ['?__proto__=1&constructor=2', {}, [{ name: 'constructor', text: '2' }]],
    ['?domainId=a,b', { domainId: ['a', 'b'] }, []],
  ])('%s', (query, search, dropped) => {
    expect(readSearch(FIELDS, parseSearch(query))).toEqual({ search, dropped } as never)
  })

  test.each(['?status=open,muted', '?q=a%26b%20%C3%BC', '?from=1&to=2', '?domainId=a,b&show=table'])(
    '%s is written as it was read',
    (query) => {
      const { search, dropped } = readSearch(FIELDS, parseSearch(query))
      expect(dropped).toEqual([])
      expect(writeSearch(search)).toBe(query)
      // Links within the dashboard pass values instead of strings.
      expect(readSearch(FIELDS, search)).toEqual({ search, dropped: [] })
    },
  )

  test('has default values for missing parameters', () => {
    expect(valuesOf(FIELDS, { q: 'a' })).toEqual({
      project: '',
      range: '24h',
      from: null,
      to: null,
      q: 'a',
      status: ['open', 'acknowledged'],
      sort: 'severity',
      show: null,
      domainId: [],
      at: null,
    })
  })

  test('has default values for invalid parameters that the router preserved', () => {
    const raw = { status: 'acknowledged,open', sort: 'purple', domainId: '', at: '7' }
    const { status, sort, domainId, at } = valuesOf(FIELDS, raw)
    expect({ status, sort, domainId, at }).toEqual({
      status: ['open', 'acknowledged'],
      sort: 'severity',
      domainId: [],
      at: 7,
    })
  })
})
