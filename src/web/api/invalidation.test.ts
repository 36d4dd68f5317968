import { describe, expect, test } from 'bun:test'
import { InfiniteQueryObserver, QueryClient, type QueryKey, QueryObserver } from '@tanstack/react-query'
import { Invalidator } from './invalidation.ts'

/** Mounts queries with these keys. `asked` lists the queries that are refetched. */
function screen(...keys: QueryKey[0][]) {
  const queries = new QueryClient({ defaultOptions: { queries: { staleTime: Number.POSITIVE_INFINITY } } })
  const asked: string[] = []
  for (const key of keys) {
    queries.setQueryData([key], { issues: [] })
    const queryFn = async () => {
      asked.push([key._id, ...Object.values(key.path ?? {})].join(' '))
      return { issues: [] }
    }
    new QueryObserver(queries, { queryKey: [key], queryFn }).subscribe(() => {})
  }
  return { queries, asked }
}

const turn = () => new Promise((done) => setTimeout(done, 20))

describe('the queries invalidated by a change', () => {
  test('are the only ones refetched, and only for the changed resource', async () => {
    const { queries, asked } = screen(
      { _id: 'listIssues' },
      { _id: 'listAlerts' },
      { _id: 'listMembers' },
      { _id: 'listDeliveries' },
      { _id: 'getIssue', path: { id: 'iss_1' } },
      { _id: 'getIssue', path: { id: 'iss_2' } },
    )
    const freshness = new Invalidator(queries, () => true)
    freshness.hear('issue', { id: 'iss_1', status: 'open', severity: 'low' })
    await turn()
    expect(asked.sort()).toEqual(['getIssue iss_1', 'listAlerts', 'listIssues'])
    freshness.stop()
  })

  test('are refetched only once the page is visible', async () => {
    const { queries, asked } = screen({ _id: 'listIssues' })
    let isSeen = false
    const freshness = new Invalidator(queries, () => isSeen)
    freshness.hear('reset', {})
    await turn()
    expect(asked).toEqual([])
    isSeen = true
    freshness.catchUp()
    await turn()
    expect(asked).toEqual(['listIssues'])
    freshness.stop()
  })

  test('are refetched at most once a second, regardless of the number of changes', async () => {
    const { queries, asked } = screen({ _id: 'listIssues' })
    const freshness = new Invalidator(queries, () => true)
    const startedAt = Date.now()
    for (let count = 0; count < 100; count++) {
      freshness.hear('issue', { id: `iss_${count}`, status: 'open', severity: 'low' })
      await Promise.resolve()
    }
    await turn()
    for (let count = 0; count < 100; count++) freshness.hear('issue', { id: 'iss', status: 'open', severity: 'low' })
    await turn()
    expect(asked).toContain('listIssues')
    // On a busy machine, the events may take more than a second.
    expect(asked.length).toBeLessThanOrEqual(1 + Math.floor((Date.now() - startedAt) / 1000))
    freshness.stop()
  })

  test('are not interrupted by changes, and are refetched afterwards', async () => {
    const queries = new QueryClient({ defaultOptions: { queries: { staleTime: Number.POSITIVE_INFINITY } } })
    const queryKey: QueryKey = [{ _id: 'listCauses' }]
    queries.setQueryData(queryKey, 'old')
    const asked: { answer(what: string): void; signal: AbortSignal }[] = []
    const queryFn = ({ signal }: { signal: AbortSignal }) =>
      new Promise<string>((answer) => void asked.push({ answer, signal }))
    new QueryObserver(queries, { queryKey, queryFn }).subscribe(() => {})
    const freshness = new Invalidator(queries, () => true, 1)
    const change = () => freshness.hear('issue', { id: 'iss_1', status: 'open', severity: 'low' })
    for (let round = 0; round < 5; round++) {
      change()
      await turn()
    }
    expect(asked.map(({ signal }) => signal.aborted)).toEqual([false])
    asked[0]?.answer('before the last change')
    for (let tries = 0; tries < 500 && asked.length < 2; tries++) await turn()
    expect(queries.getQueryData<string>(queryKey)).toBe('before the last change')
    asked[1]?.answer('new')
    await turn()
    await turn()
    expect(asked.length).toBe(2)
    expect(queries.getQueryData<string>(queryKey)).toBe('new')
    freshness.stop()
  })

  test('are updated in place if the list has many loaded pages', async () => {
    const queries = new QueryClient({ defaultOptions: { queries: { staleTime: Number.POSITIVE_INFINITY } } })
    const queryKey: QueryKey = [{ _id: 'listIssues', _infinite: true }]
    const page = (index: number) => ({ issues: [{ id: `iss_${index}`, status: 'open', severity: 'low' }] })
    const pages = Array.from({ length: 9 }, (_, index) => page(index))
    queries.setQueryData(queryKey, { pages, pageParams: pages.map(() => ({})) })
    let asked = 0
    const queryFn = async () => page(++asked)
    const infinite = { queryKey, queryFn, initialPageParam: {}, getNextPageParam: () => ({}) }
    const observer = new InfiniteQueryObserver(queries, infinite)
    observer.subscribe(() => {})
    const freshness = new Invalidator(queries, () => true)
    freshness.hear('issue', { id: 'iss_7', status: 'muted', severity: 'low' })
    await turn()
    expect(asked).toBe(0)
    expect(JSON.stringify(queries.getQueryData(queryKey))).toContain('{"id":"iss_7","status":"muted","severity":"low"}')
    freshness.stop()
  })
})
