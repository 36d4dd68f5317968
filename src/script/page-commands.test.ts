import { describe, expect, test } from 'bun:test'
import type { Item } from './batch.ts'
import { frameOf } from './collector.fixture.ts'
import { commandRunner } from './page-commands.ts'
import type { Declared } from './page-frame.ts'

function setUp(isSampled = true) {
  const items: Item[] = []
  const declared: unknown[] = []
  let ids = 0
  const run = commandRunner({
    frames: {
      current: () => frameOf('/', { isSampled }),
      at: () => frameOf('/'),
      tell: (more: Partial<Declared>) => void declared.push(more),
    },
    session: {
      idAt: () => '',
      allowStorage: (isAllowed) => void declared.push(['storage', isAllowed]),
      setMode: (mode) => void declared.push(['mode', mode]),
      setCustomerSession: (id) => void declared.push(['session', id]),
    },
    date: () => 7,
    newId: () => `id.${++ids}`,
    add: (item) => void items.push(item),
  })
  return { run: (...command: unknown[]) => run(command), items, declared }
}

describe('configure', () => {
  test.each<[object, unknown[]]>([
    [{ env: 'dev', version: '12', customerId: 7 }, [{ env: 'dev', version: 12, customerId: '7' }]],
    [{ version: 12.5 }, [{ version: 12.5 }]],
    [{ env: 'test', version: 'latest', customerId: '' }, [{}]],
    [{ version: '' }, [{}]],
    [{ customerId: 'x'.repeat(600) }, [{ customerId: 'x'.repeat(500) }]],
    [{ sessionId: 's-1' }, [['session', 's-1'], ['mode', 'customer'], {}]],
    [{ sessionId: 's-1', sessionMode: 'memory' }, [['mode', 'memory'], ['session', 's-1'], {}]],
    [{ sessionMode: 'cookie' }, [{}]],
  ])('declares only the valid values of %j', (given, expected) => {
    const { run, declared } = setUp()
    run('configure', given)
    expect(declared).toEqual(expected)
  })

  test.each([[undefined], [null], ['x'], [[]]])('with %p changes nothing', (given) => {
    const { run, declared } = setUp()
    run('configure', given)
    expect(declared).toEqual([{}])
  })
})

test('only the consent value `granted` allows storage', () => {
  const { run, declared } = setUp()
  for (const word of ['granted', 'denied', true, undefined]) run('consent', word)
  expect(declared).toEqual([true, false, false, false].map((isAllowed) => ['storage', isAllowed]))
})

test('a container is reported once', () => {
  const { run, items } = setUp()
  for (const id of ['GTM-1', 'GTM-1', 'GTM-2', undefined]) run('container', id)
  expect(items).toMatchObject(
    ['GTM-1', 'GTM-2'].map((account) => ({ list: 'events', content: { event: 'container_loaded', account } })),
  )
})

test('tags are reported with their results, and entries without a tag are omitted', () => {
  const { run, items } = setUp()
  run('tags', 'GTM-1', 'purchase', [
    { id: 7, name: 'Purchase', status: 'success', executionTime: 3 },
    { id: '8', status: 'later', executionTime: -1 },
    { status: 'failure' },
    null,
  ])
  run('tags', 'GTM-1', 'purchase', 'none')
  run('tags', undefined, 'purchase', [{ id: 7 }])
  const shared = { ts: 7, container: 'GTM-1', event: 'purchase' }
  expect(items.map((item) => item.list === 'tags' && item.content)).toEqual([
    { ...shared, id: 'id.1', tagId: '7', name: 'Purchase', status: 'ok', execMs: 3 },
    { ...shared, id: 'id.2', tagId: '8', name: '' },
  ])
})

test('additional fields of a tag are reported, within limits', () => {
  const { run, items } = setUp()
  const many = Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`key ${n}`, n]))
  run('tags', 'GTM-1', 'purchase', [
    { id: 7, 'Order ID': 'A-1', total: 2.5, isNew: false, exclude: 'false', empty: '', deep: {}, none: null },
    { id: 8, long: 'x'.repeat(600), ...many },
  ])
  const [first, second] = items.map((item) => (item.list === 'tags' ? item.content.params : undefined))
  expect(first).toEqual({ 'Order ID': 'A-1', total: '2.5', isNew: 'false' })
  expect([second?.long?.length, Object.keys(second ?? {}).length]).toEqual([500, 50])
})

test('nothing is reported for sessions outside the sample, and unknown commands are ignored', () => {
  const { run, items } = setUp(false)
  run('tags', 'GTM-1', 'purchase', [{ id: 7 }])
  run('container', 'GTM-1')
  run('dance')
  run()
  expect(items).toEqual([])
})
