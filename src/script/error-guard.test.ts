import { describe, expect, test } from 'bun:test'
import { makeErrorGuard } from './error-guard.ts'

function setUp() {
  let now = 0
  const guard = makeErrorGuard(() => now)
  return {
    guard,
    pass(ms: number) {
      now += ms
    },
  }
}

describe('errors', () => {
  test('are caught, and the fifth stops the script', () => {
    const { guard } = setUp()
    let runs = 0
    const fail = () => {
      runs++
      throw new Error('ours')
    }
    expect(guard.run(() => 7)).toBe(7)
    for (let n = 0; n < 10; n++) expect(guard.run(fail)).toBeUndefined()
    expect([runs, guard.isOff()]).toEqual([5, true])
    expect(guard.run(() => 7)).toBeUndefined()
  })

  test("a stopped script can't be restarted", () => {
    const { guard } = setUp()
    guard.stop()
    expect(guard.run(() => 7)).toBeUndefined()
  })
})

test('the time budget is 5 ms per second, and nested calls count only once', () => {
  const { guard, pass } = setUp()
  pass(2000)
  guard.run(() => guard.run(() => pass(4)))
  expect(guard.isSpent()).toBe(false)
  guard.run(() => pass(2))
  expect([guard.isSpent(), guard.isSpent(2)]).toEqual([true, false])
  guard.run(() => pass(20))
  expect(guard.isSpent(2)).toBe(true)
  pass(1000)
  expect(guard.isSpent()).toBe(false)
})
