import { expect, test } from 'bun:test'
import { IdleDetector } from './idle-detector.ts'

/** Simulates a program that has used this much processor time, in milliseconds. */
function program(usedMs: number) {
  let [seconds, used] = [0, 0]
  const given: number[] = []
  const usage = () => ({ user: used * 700, system: used * 300 })
  const watch = new IdleDetector(
    usage,
    () => given.push(seconds),
    () => seconds * 1000,
  )
  used = usedMs
  return {
    given,
    /** Lets this number of seconds pass, and uses this much processor time in each second. */
    live(count: number, ms: number) {
      for (let second = 0; second < count; second++) {
        seconds++
        used += ms
        watch.check()
      }
    },
  }
}

test('file pages are released once after startup, when the program has been idle for four seconds', () => {
  const { live, given } = program(300)
  live(3, 1)
  live(1, 400)
  live(3, 49)
  expect(given).toEqual([])
  live(100, 1)
  expect(given).toEqual([8])
})

test('nothing is released while the program is busy', () => {
  const { live, given } = program(300)
  live(1000, 51)
  expect(given).toEqual([])
})

test('file pages are released again after work, at most once a minute', () => {
  const { live, given } = program(300)
  for (let round = 0; round < 20; round++) {
    live(2, 500)
    live(8, 1)
  }
  expect(given).toEqual([6, 66, 126, 186])
})
