import { expect, test } from 'bun:test'
import { DuckDBInstance } from '@duckdb/node-api'
import { execute } from './execute-sql.ts'
import { OutOfMemoryRetry } from './parquet-files.ts'

const noMemory = new Error('Out of Memory Error: failed to allocate data')

/** Returns work that runs until the test ends it, and a list of its calls so far. */
function held() {
  const calls: PromiseWithResolvers<string>[] = []
  const work = () => {
    const call = Promise.withResolvers<string>()
    calls.push(call)
    return call.promise
  }
  return { calls, work }
}

/** Lets all pending promises and callbacks run. */
const settle = () => Bun.sleep(0)

test('work that runs out of memory is retried after running work has ended and before new work starts', async () => {
  const queries = new OutOfMemoryRetry()
  const [first, second, third] = [held(), held(), held()]
  const [one, two] = [queries.run(first.work), queries.run(second.work)]
  await settle()
  second.calls[0]?.reject(noMemory)
  await settle()
  const three = queries.run(third.work)
  await settle()
  expect([first.calls.length, second.calls.length, third.calls.length]).toEqual([1, 1, 0])
  first.calls[0]?.resolve('one')
  await settle()
  expect([second.calls.length, third.calls.length]).toEqual([2, 0])
  second.calls[1]?.resolve('two')
  await settle()
  third.calls[0]?.resolve('three')
  expect(await Promise.all([one, two, three])).toEqual(['one', 'two', 'three'])
})

test('work fails if it runs out of memory twice or while running alone, or fails for another reason', async () => {
  const queries = new OutOfMemoryRetry()
  await expect(queries.run(() => Promise.reject(noMemory))).rejects.toBe(noMemory)
  const [other, failing, twice] = [held(), held(), held()]
  const [one, two, three] = [queries.run(other.work), queries.run(failing.work), queries.run(twice.work)]
  await settle()
  failing.calls[0]?.reject(new Error('Parser Error: no'))
  await expect(two).rejects.toThrow('Parser Error: no')
  twice.calls[0]?.reject(noMemory)
  other.calls[0]?.resolve('one')
  await settle()
  twice.calls[1]?.reject(noMemory)
  await expect(three).rejects.toBe(noMemory)
  expect([await one, failing.calls.length, twice.calls.length]).toEqual(['one', 1, 2])
  expect(await queries.run(async () => 'next')).toBe('next')
})

test("queries that together exceed the engine's memory all return results", async () => {
  const engine = await DuckDBInstance.create(':memory:', { memory_limit: '100MB', threads: '1' })
  const queries = new OutOfMemoryRetry()
  // DuckDB can't spill lists to disk, and two of these lists together exceed the engine's memory.
  const sql = 'SELECT len(list(range)) AS n FROM range(3000000)'
  const answers = await Promise.all([1, 2, 3, 4].map(() => queries.run(() => execute<{ n: number }>(engine, sql))))
  expect(answers.flat().map(({ n }) => Number(n))).toEqual([3e6, 3e6, 3e6, 3e6])
  engine.closeSync()
})
