import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { HOUR_MS } from '../../core/clock.ts'
import type { Query } from '../query.ts'
import { HOUR, plainQuery, WarehouseFixture } from '../warehouse.fixture.ts'

let fixture: WarehouseFixture
beforeAll(async () => {
  fixture = await WarehouseFixture.open()
  await fixture.add([{ orgId: 'org_1', params: { a: '1' } }])
})
afterAll(() => fixture[Symbol.asyncDispose]())

const query = (sql: string, more: Pick<Query, 'read'> = {}): Query =>
  plainQuery({ sql, orgId: 'org_1', window: { from: HOUR, to: HOUR + HOUR_MS }, ...more })
/** Runs for hours, but often checks for cancellation. */
const ENDLESS = 'SELECT count(*) AS n FROM range(10000000) a, range(10000000) b WHERE (a.range * b.range) % 7 = 3'
const numbers = (count: number) => `SELECT range AS n FROM range(${count}) ORDER BY n`
const abortedError = { code: 'unavailable', message: 'the client disconnected before the response was ready' }

describe('reading rows', () => {
  test.each([0, 1, 49, 50, 51, 2048, 2049, 5000])(
    'maps each of %d rows in order, and skips null results',
    async (count) => {
      const read = ({ n }: { n: number }) => (n % 3 === 0 ? n : null)
      const thirds = Array.from({ length: count }, (_, n) => n).filter((n) => n % 3 === 0)
      expect(await fixture.warehouse.query<number>(query(numbers(count), { read }))).toEqual(thirds)
    },
  )

  test('yields to the event loop, regardless of how long reading takes', async () => {
    let turns = 0
    const others = setInterval(() => turns++, 0)
    const turnsBefore: number[] = []
    const read = () => {
      const until = performance.now() + 10
      while (performance.now() < until);
      turnsBefore.push(turns)
      return null
    }
    await fixture.warehouse.query(query(numbers(20), { read }))
    clearInterval(others)
    // If all twenty rows were read at once, other work would run at most once in between.
    expect(new Set(turnsBefore).size).toBeGreaterThan(5)
  })
})

describe('a query', () => {
  test('is cancelled in the engine when its signal aborts during execution', async () => {
    const controller = new AbortController()
    const asked = fixture.warehouse.query(query(ENDLESS), controller.signal)
    expect(fixture.warehouse.runningQueries).toBe(1)
    await Bun.sleep(0)
    controller.abort()
    await expect(asked).rejects.toMatchObject(abortedError)
    expect(fixture.warehouse.runningQueries).toBe(0)
  })

  test('is cancelled when its signal aborts while rows are read', async () => {
    const controller = new AbortController()
    let read = 0
    const slowly = () => {
      const until = performance.now() + 10
      while (performance.now() < until);
      if (++read === 3) controller.abort()
      return read
    }
    const asked = fixture.warehouse.query(query(numbers(1000), { read: slowly }), controller.signal)
    await expect(asked).rejects.toMatchObject(abortedError)
    expect(read).toBeLessThan(10)
  })

  test('does not start if its signal has already aborted', async () => {
    const controller = new AbortController()
    controller.abort()
    await expect(fixture.warehouse.query(query(ENDLESS), controller.signal)).rejects.toMatchObject(abortedError)
    expect(fixture.warehouse.runningQueries).toBe(0)
  })

  test('does not block jobs, regardless of the number of queries', async () => {
    const controller = new AbortController()
    const asked = Array.from({ length: 20 }, () => fixture.warehouse.query(query(ENDLESS), controller.signal))
    expect(await fixture.count()).toEqual({ rows: 1, events: 1 })
    // The queries are still running.
    expect(fixture.warehouse.runningQueries).toBe(4)
    controller.abort()
    for (const one of await Promise.allSettled(asked)) {
      expect(one).toMatchObject({ status: 'rejected', reason: abortedError })
    }
    expect(fixture.warehouse.runningQueries).toBe(0)
  })
})
