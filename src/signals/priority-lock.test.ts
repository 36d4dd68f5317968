import { expect, test } from 'bun:test'
import { PriorityLock } from './priority-lock.ts'

test('one caller runs at a time; foreground callers go first, and a failure releases the lock', async () => {
  const lock = new PriorityLock()
  const done: string[] = []
  let underWay = 0
  const work = (name: string, gives: boolean) =>
    lock.take(async () => {
      expect(++underWay).toBe(1)
      await Bun.sleep(0)
      underWay--
      done.push(name)
      if (name.includes('fails')) throw new Error(name)
      return name
    }, gives)
  const all = await Promise.allSettled([
    work('first', true),
    work('second part', true),
    work('third part', true),
    work('a query that fails', false),
    work('another query', false),
  ])
  expect(done).toEqual(['first', 'a query that fails', 'another query', 'second part', 'third part'])
  expect(all.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'fulfilled', 'rejected', 'fulfilled'])
  expect(await work('later', true)).toBe('later')
})
